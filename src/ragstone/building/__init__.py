"""Making benchmarks: passages to write about, queries about them, labels, critiques, filters."""
