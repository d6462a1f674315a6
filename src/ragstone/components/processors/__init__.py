"""Processors: components that shorten contexts before they are part of a prompt."""
