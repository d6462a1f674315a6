"""Processors: components that change contexts before they are part of a prompt."""
