"""Experiments: the file, its checks, the plan, the pipeline and the record."""
