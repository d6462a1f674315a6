"""Ragstone measures retrieval-augmented generation: how good it is, why it fails, what is real."""

__version__ = "0.1.0"
