"""Embedders: components that turn texts into vectors. One embedder, one file."""
