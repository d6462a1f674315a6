"""Generators: components that answer queries from their contexts."""
