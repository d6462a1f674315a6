"""The parts of a pipeline: one folder per kind, one file per component."""
