"""Where the sentences of a text start, in some three hundred languages."""

from __future__ import annotations

from ragstone.errors import MissingDependency


def sentence_starts(text: str, language: str, *, asked_by: str) -> list[int]:
    """Return the character at which each sentence starts, ascending; the first is 0.

    Wikimedia's sentencex does the work: rules by language, marks of all scripts. Texts in scripts
    without such marks (Thai, Lao, Khmer) are one sentence.

    Args:
        text: any text.
        language: whose abbreviations do not end a sentence, as `en` or `de`.
        asked_by: the component to name where the package is missing.

    >>> sentence_starts("One. Two!  Three", "en", asked_by="an example")
    [0, 5, 11]
    """
    try:
        from sentencex import get_sentence_boundaries
    except ImportError as error:
        raise MissingDependency(asked_by, "sentencex", "chunk") from error
    return sorted({0, *(found["start_index"] for found in get_sentence_boundaries(language, text))})


def splitter_version(*, asked_by: str) -> str:
    """Return which release of the splitter is installed: another one may find other sentences."""
    from importlib.metadata import version

    sentence_starts("", "en", asked_by=asked_by)
    return f"sentencex {version('sentencex')}"
