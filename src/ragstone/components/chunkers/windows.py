"""Windows over the units of a text: words, characters, tokens.

White space belongs to the unit before it, at the beginning of a text to the first: windows without
overlap put together are the text again, to the last character.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.errors import ConfigError
from ragstone.types import Document, Passage


def check_window(size: int, overlap: int) -> None:
    """Raise `ConfigError` unless windows of that size and overlap move forward."""
    if size < 1:
        raise ConfigError(f"size must be 1 or more, found {size}")
    if not 0 <= overlap < size:
        raise ConfigError(
            f"overlap must be 0 or more and less than the size {size}, found {overlap}"
        )


def windows(count: int, size: int, overlap: int = 0) -> Iterator[tuple[int, int]]:
    """Yield first and end of each window over `count` units; none lies within the one before it.

    >>> list(windows(10, size=5, overlap=2))
    [(0, 5), (3, 8), (6, 10)]
    """
    first = 0
    while first < count:
        end = min(first + size, count)
        yield first, end
        if end == count:
            return
        first = end - overlap


def cut_windows(
    document: Document, starts: Sequence[int], size: int, overlap: int
) -> Iterator[Passage]:
    """Yield the passages of a document whose units start at some characters, in order.

    A document of white space alone has none.
    """
    text = document.text
    if not text.strip():
        return
    bounds = [0, *starts[1:], len(text)]
    before = (0, 0)
    for first, end in windows(len(bounds) - 1, size, overlap):
        span = bounds[first], bounds[end]
        # Tokens of one character (a Korean syllable taken apart) start at the same place.
        if span[0] < span[1] and span != before:
            yield document.passage(*span)
        before = span
