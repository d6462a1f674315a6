"""Metrics: names that round-trip, one file each, imported when they are used."""
