"""Generators: what answers a query from its context."""
