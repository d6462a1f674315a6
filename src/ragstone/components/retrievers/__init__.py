"""Retrievers: what finds passages for a query. One retriever, one file."""
