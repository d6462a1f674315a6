"""A reader's own system: the passage with most words of the question."""

PAGES = ["The capital of Peru is Lima.", "The capital of Egypt is Cairo.", "Oman is a country."]


def answer(query: str) -> str:
    """Return the answer to a question."""
    words = set(query.lower().strip("?").split())
    return max(PAGES, key=lambda page: len(words & set(page.lower().strip(".").split())))
