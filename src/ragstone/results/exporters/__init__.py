"""Exporters: results of an experiment in the formats of other tools."""
