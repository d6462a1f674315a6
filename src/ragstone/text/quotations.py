"""Quotations in a text, found in time that grows with the length of the text alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]

_WORD: Final = re.compile(r"\w")


@cache
def _patterns(
    pairs: tuple[tuple[str, str], ...],
) -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    opening = re.compile(f"[{''.join(start for start, _ in pairs)}]")
    return opening, {start: re.compile(f"[{ends}\n]") for start, ends in pairs}


def quotations(text: str, pairs: tuple[tuple[str, str], ...], apart: str = "") -> Iterator[Span]:
    r"""Yield start and end of each quotation within a line, from left to right.

    A pattern such as `«[^»\n]*»` searches the rest of the line again for each mark that is never
    closed.

    Args:
        text: the text.
        pairs: opening marks, each with the marks that close it.
        apart: opening marks that are apostrophes if a letter is before them or after their end.

    >>> list(quotations('He said "no" and «yes».', (('"', '"'), ("«", "»"))))
    [(8, 12), (17, 22)]
    """
    opening, closing = _patterns(pairs)
    unclosed = dict.fromkeys(closing, 0)
    place = 0
    while found := opening.search(text, place):
        mark, start, place = found[0], found.start(), found.end()
        inside = mark in apart and start > 0 and _WORD.match(text, start - 1)
        if start < unclosed[mark] or inside:
            continue
        end = closing[mark].search(text, place)
        if end and end[0] != "\n" and not (mark in apart and _WORD.match(text, end.end())):
            place = end.end()
            yield start, place
        else:
            unclosed[mark] = end.start() if end else len(text)


def span_at(spans: Sequence[Span], place: int) -> Span | None:
    """Return which of some spans, in order and apart from each other, contains a place.

    >>> span_at([(0, 2), (5, 9)], 5), span_at([(0, 2), (5, 9)], 2)
    ((5, 9), None)
    """
    number = bisect_right(spans, place, key=lambda span: span[0]) - 1
    return spans[number] if number >= 0 and place < spans[number][1] else None
