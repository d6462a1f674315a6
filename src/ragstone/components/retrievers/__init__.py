"""Retrievers: components that find passages for a query. One retriever, one file."""
