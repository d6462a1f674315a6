"""Parsing the order of numbered passages in a reply."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from ragstone.components.judges.reply_parsing import Unreadable, spoken
from ragstone.core import limits

ORDER_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"order": {"type": "array", "items": {"type": "integer"}}},
    "required": ["order"],
}
_NUMBER: Final = r"""(?:(?:passage|document)[ \t]*)?["'(]?\[?[ \t]*+(\d{1,6})[ \t]*+\]?["')]?"""
_CHAINS: Final = (
    # numbers with arrows between them, as "[2] > [1]"
    re.compile(rf"{_NUMBER}(?:\s*[>\u227b\uff1e\u2265]\s*{_NUMBER})+", re.IGNORECASE),
    # a list in brackets, in JSON or alone
    re.compile(rf"\[\s*{_NUMBER}(?:\s*+,\s*+{_NUMBER})+\s*\]"),
    # a line of numbers alone: in prose, commas separate other things too
    re.compile(rf"^ ?{_NUMBER}(?: ?+[,;\uff0c] ?+{_NUMBER})+ ?\.?$", re.IGNORECASE | re.MULTILINE),
)
_LISTED: Final = re.compile(r"^[ \t]*(?:(?:\d{1,3}[.):]|[-•])[ \t]*)?\[(\d{1,6})\]", re.MULTILINE)
_ALONE: Final = re.compile(r"\D{0,12}(\d{1,6})\D{0,12}")
_DIGITS: Final = re.compile(r"\d{1,6}")
_MARKDOWN: Final = {ord(sign): None for sign in "*_`"}
_SPACES: Final = re.compile(r"[^\S\n]+")
_LINES: Final = re.compile(r"\n\s*")


@dataclass(frozen=True, slots=True)
class Order:
    """The order of some passages in a reply."""

    places: list[int]
    """All places from 0; those that the reply names come first."""
    missing: int
    """Number of passages that the reply does not name."""
    repeated: int
    """Number of repetitions."""
    unknown: int
    """Number of numbers that belong to no passage."""


def read_order(reply: str, count: int) -> Order:
    """Return the order of `count` passages, which are numbered from 1.

    The order is the chain (`[2] > [1]`, a JSON list, a line such as `2, 1`) that names the most
    passages, the last one of equals; or else the lines that begin with a number in brackets; or
    else a reply that is one number. Numbers in prose are not an order.

    Raises:
        Unreadable: the reply has no order, or an order of none of these passages.

    >>> read_order("Sure: [2] > [4] > [2]", 3)
    Order(places=[1, 0, 2], missing=2, repeated=1, unknown=1)
    """
    # Runs of white space would take quadratic time: the patterns allow it in several places.
    text = _LINES.sub("\n", _SPACES.sub(" ", spoken(reply).translate(_MARKDOWN)))
    best: list[int] = []
    for found in _candidates(text):
        if len(_known(found, count)) >= max(len(_known(best, count)), 1):
            best = found
    named = _known(best, count)
    if not named:
        raise Unreadable(
            f"no order of the passages in {reply.strip()[: limits.MAX_VALUE_CHARACTERS]!r}"
        )
    unknown = sum(not 1 <= number <= count for number in best)
    rest = [place for place in range(count) if place not in named]
    return Order([*named, *rest], len(rest), len(best) - unknown - len(named), unknown)


def _candidates(text: str) -> list[list[int]]:
    """Return the possible orders in a text, as lists of numbers."""
    found = sorted((m for chain in _CHAINS for m in chain.finditer(text)), key=re.Match.end)
    if found:
        return [[int(number) for number in _DIGITS.findall(match.group())] for match in found]
    listed = [int(number) for number in _LISTED.findall(text)]
    if listed:
        return [listed]
    alone = _ALONE.fullmatch(text.strip())
    return [[int(alone[1])]] if alone else []


def _known(numbers: list[int], count: int) -> list[int]:
    """Return the places of the numbers that belong to passages, each once."""
    return list(dict.fromkeys(number - 1 for number in numbers if 1 <= number <= count))
