"""Readers of traces: OTLP files (GenAI conventions, OpenInference) and Langfuse's exports."""
