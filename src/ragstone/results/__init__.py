"""Results of an experiment: read from the store, aggregated, and shown."""
