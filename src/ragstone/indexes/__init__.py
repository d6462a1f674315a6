"""Indexes for retrieval: inverted lists, vectors, exact nearest neighbours."""
