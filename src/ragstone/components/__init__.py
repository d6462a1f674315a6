"""Components of a pipeline: one folder per kind, one file per component."""
