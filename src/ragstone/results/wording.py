"""Texts that reports, the terminal and plans share."""

from __future__ import annotations

from collections.abc import Mapping


def left_out_text(left_out: Mapping[str, int]) -> str:
    """Return the number of queries left out, and the reasons; "" if there are none.

    >>> left_out_text({"gold+retrieved(5) is defined for few": 406})
    '406 queries are left out of every setting: gold+retrieved(5) is defined for few'
    """
    return "; ".join(
        f"{count:,} {'query is' if count == 1 else 'queries are'} left out of every setting: "
        f"{reason}"
        for reason, count in left_out.items()
    )


TITLES: Mapping[str, str] = {
    "form": "form queries",
    "retrieve": "retrieve",
    "fuse": "fuse rankings",
    "rerank": "rerank",
    "score-ranking": "score rankings",
    "context": "build contexts",
    "process": "process contexts",
    "generate": "generate answers",
    "reported-run": "read reported passages",
    "score-answer": "score answers",
    "judge": "judge answers",
}


def shorten(text: str, width: int) -> str:
    """Return a text on one line, cut after `width` characters; its indentation stays.

    >>> shorten("one two three", 9)
    'one tw...'
    """
    line = " ".join(text.split())
    start = text[: len(text) - len(text.lstrip())]
    whole = start + line
    return whole if len(whole) <= width else f"{whole[: width - 3]}..."
