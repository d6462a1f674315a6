"""Sentence starts in a text, in about three hundred languages."""

from __future__ import annotations

from ragstone.errors import MissingDependency


def sentence_starts(text: str, language: str, *, asked_by: str) -> list[int]:
    """Return the position of each sentence's first character, ascending; the first is 0.

    The rules are those of Wikimedia's sentencex: abbreviations per language, and sentence marks of
    all scripts. Texts in scripts without such marks (Thai, Lao, Khmer) are one sentence.

    Args:
        text: any text.
        language: language of the abbreviations that do not end a sentence, such as `en`.
        asked_by: name of the component in the error if the package is missing.

    >>> sentence_starts("One. Two!  Three", "en", asked_by="an example")
    [0, 5, 11]
    """
    try:
        from sentencex import get_sentence_boundaries
    except ImportError as error:
        raise MissingDependency(asked_by, "sentencex", "chunk") from error
    return sorted({0, *(found["start_index"] for found in get_sentence_boundaries(language, text))})


def splitter_version(*, asked_by: str) -> str:
    """Return the installed release of the splitter, which is part of cache keys."""
    from importlib.metadata import version

    sentence_starts("", "en", asked_by=asked_by)
    return f"sentencex {version('sentencex')}"
