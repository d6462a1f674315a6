"""The numbers and values of passports, flat and compared one by one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, TypeAlias

from ragstone.core import limits
from ragstone.results.leaderboards import NUMBER_TABLES
from ragstone.results.passport_file import canonical

Place: TypeAlias = tuple[str, str, str, str]
"""Table, system, setting and metric of a row of numbers; "" if a table has no such column.

The table of a collection is "collections" and, after a space, its name."""


def numbered(tables: Mapping[str, Any]) -> dict[Place, dict[str, Any]]:
    """Return (table, system, setting, metric) -> name -> number of each row of number tables."""
    plain = json.loads(canonical(tables))
    rows = ((table, row) for table in NUMBER_TABLES for row in plain.get(table, ()))
    return {_place(table, row): dict(flat(row)) for table, row in rows}


def _place(table: str, row: Mapping[str, Any]) -> Place:
    name = f"{table} {row['collection']}" if "collection" in row else table
    return name, row["system"], row["setting"], row.get("metric", "")


def flat(row: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of each number of a row; names of nested ones have points."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{key}.")
        elif before or key not in ("system", "setting", "metric"):
            yield f"{before}{key}", value


def is_same(before: Any, here: Any) -> bool:
    """Return whether two numbers or lists of numbers agree to nine digits."""
    if isinstance(before, list) and isinstance(here, list):
        return len(before) == len(here) and all(map(is_same, before, here))
    if isinstance(before, int | float) and isinstance(here, int | float):
        return math.isclose(before, here, rel_tol=1e-9, abs_tol=1e-12)
    return bool(before == here)


def changes(before: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name and both values of each entry of a part that differs."""
    for key, old, new in differing(before, here):
        yield f"{key} {shown(old)} in the passport, {shown(new)} here"


def differing(before: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name and both values of each entry of nested mappings that differs."""
    old, new = dict(flat(before)), dict(flat(here))
    for key in sorted({*old, *new}):
        if not is_same(old.get(key), new.get(key)):
            yield key, old.get(key), new.get(key)


def first_lines(found: Sequence[object]) -> Iterator[str]:
    """Yield the first few differences as lines, and the number of the others."""
    yield from (f"  {one}" for one in found[: limits.SHOWN_DIFFERENCES])
    if len(found) > limits.SHOWN_DIFFERENCES:
        yield f"  ... and {len(found) - limits.SHOWN_DIFFERENCES:,} more; --json lists all"


def shown_apart(a: Any, b: Any) -> tuple[str, str]:
    """Return two different values as short texts that differ, too.

    >>> shown_apart("hf:0123456789012345678:alone", "hf:0123456789012345678:alone tuned")
    ('...678:alone', '...678:alone tuned')
    """
    if shown(a) != shown(b):
        return shown(a), shown(b)
    texts = [" ".join(str(value).split()) for value in (a, b)]
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    start = max(0, alike - limits.SHOWN_COMMON_CHARACTERS)
    first, second = (shown(f"...{text[start:]}") for text in texts)
    return first, second


def shown(value: Any) -> str:
    """Return a value as short text; numbers have four decimals.

    >>> shown(0.25), shown([0.1, 0.98765]), shown(None)
    ('0.2500', '[0.1000, 0.9877]', 'none')
    """
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, float):
        return f"{value:.4f}"
    text = "none" if value is None else " ".join(str(value).split())
    most = limits.SHOWN_DIFFERING_CHARACTERS
    return text if len(text) <= most else f"{text[: most - 3]}..."
