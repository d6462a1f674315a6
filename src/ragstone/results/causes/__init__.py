"""Causes of wrong answers: evidence from stored trials, shares, and their tables."""
