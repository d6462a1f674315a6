"""Processors: what shortens contexts between the context setting and the prompt. One, one file."""
