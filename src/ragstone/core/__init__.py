"""Foundations: registry, fingerprints, schemas, the store, prompts, progress."""
