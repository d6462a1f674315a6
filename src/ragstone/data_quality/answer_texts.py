"""Rows with the answers and contexts of a system, such as those made of traces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from ragstone.core import limits
from ragstone.data.readers.rows import lines
from ragstone.data_quality.finding import Finding, report, shown
from ragstone.data_quality.personal_data import IDENTIFIERS, masked

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_OF_A_SYSTEM: Final = frozenset({"contexts", "steps", "system"})
"""Fields of a row with an answer of a system; `ragstone traces convert` writes them."""


def has_answers(path: Path) -> bool:
    """Return whether the first row of a file of JSON lines is one of a system."""
    if not path.is_file() or ".jsonl" not in path.suffixes:
        return False
    first = next(answer_rows(path), {})
    return bool(_OF_A_SYSTEM & first.keys())


def answer_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines; a line that is not an object is skipped."""
    for _, line in lines(path):
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(row, dict):
            yield row


def check_answers(subject: Subject) -> Iterator[Finding]:
    """Find personal data in the answers, contexts and steps of a system."""
    if not subject.answers:
        return
    found: dict[str, dict[str, str]] = {kind: {} for kind in IDENTIFIERS}
    total = 0
    for total, row in enumerate(answer_rows(subject.answers), 1):
        row_id = str(row.get("query_id") or f"line {total}")
        for text in _texts(row):
            for kind, places in found.items():
                if masked(text, kind) != text:
                    places.setdefault(row_id, shown(text, limits.EXAMPLE_ANSWER_CHARACTERS))
    for kind, places in found.items():
        yield from report(
            f"personal-data/{kind}",
            "warning",
            [(row_id, f"row {row_id}: {excerpt}") for row_id, excerpt in places.items()],
            total,
            f"rows of answers contain personal data of the kind {kind}",
            advice="`--fix` writes a copy of the rows in which they are masked; publish that one",
            kind="answer",
            remedy="fix",
        )


def _texts(value: object) -> Iterator[str]:
    """Yield the texts within lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
