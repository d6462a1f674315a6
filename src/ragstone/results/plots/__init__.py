"""Plots by name: the charts of `ragstone plot`, each a function of stored results."""
