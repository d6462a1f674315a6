"""Embedders: what turns texts into vectors. One embedder, one file."""
