"""Chunkers: documents cut into passages."""
