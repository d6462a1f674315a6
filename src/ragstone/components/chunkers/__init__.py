"""Cutting documents into passages, and carrying relevance judgements over to the new passages."""
