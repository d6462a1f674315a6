"""The smallest system that retrieves and answers: the sentence that shares most words."""

from __future__ import annotations

PASSAGES = (
    "The capital of Peru is Lima.",
    "The capital of Egypt is Cairo.",
    "Salalah is a city of Oman.",
)


def answer(query: str) -> str:
    """Return the passage that shares most words with the query."""
    words = set(query.lower().strip("?").split())
    return max(PASSAGES, key=lambda text: len(words & set(text.lower().strip(".").split())))
