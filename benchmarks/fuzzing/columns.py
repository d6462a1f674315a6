"""Parquet files of the seeds: columns whose types and values are mutated, then written."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from .trees import BEYOND, KEYS, TEXTS

Columns = dict[str, Any]
MOST_ROWS: Final = 600
"""Rows of a file: groups of one row each take long to write."""


def _strange(values: Sequence[Any], draw: Random) -> list[Any]:
    """Return values of one type in place of others."""
    n = len(values)
    made: tuple[Callable[[], list[Any]], ...] = (
        lambda: [draw.choice(TEXTS) for _ in range(n)],
        lambda: [draw.choice([one for one in BEYOND if abs(one) < 2**63]) for _ in range(n)],
        lambda: [draw.choice((float("nan"), 1e308, -0.0, 1.5, float("inf"))) for _ in range(n)],
        lambda: [draw.random() < 0.5 for _ in range(n)],
        lambda: [None] * n,
        lambda: [[draw.choice(TEXTS)] for _ in range(n)],
        lambda: [{"text": draw.choice(TEXTS), "id": 1} for _ in range(n)],
        lambda: [[] for _ in range(n)],
        lambda: [b"\xff\0" for _ in range(n)],
    )
    return draw.choice(made)()


_TYPES: Final = (
    *(pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary()),
    *(pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(38, 3), pa.date32()),
    *(pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.time64("us"), pa.duration("s"), pa.bool_()),
    *(pa.large_list(pa.string()), pa.list_(pa.string(), 1), pa.map_(pa.string(), pa.int64())),
)


def change_columns(columns: Columns, draw: Random) -> Columns:  # noqa: PLR0911 - one per mutation
    """Return columns with one mutation."""
    names = list(columns)
    if not names:
        return {draw.choice(KEYS): ["a"]}
    name, how = draw.choice(names), draw.randrange(9)
    values = list(columns[name])
    if how == 0:
        return {key: value for key, value in columns.items() if key != name}
    if how == 1:
        new = draw.choice(KEYS).encode("utf-8", "replace").decode()
        return {new if key == name else key: value for key, value in columns.items()}
    if how == 2 and values:
        values[draw.randrange(len(values))] = None
    elif how == 3 and values:
        at = draw.randrange(len(values))
        values[at] = draw.choice(TEXTS) if isinstance(values[at], str) else values[at - 1]
    elif how == 4:
        return {
            key: [value[0]] * len(value) if len(value) else [] for key, value in columns.items()
        }
    elif how == 5:
        return {
            key: list(value)[:MOST_ROWS] * draw.choice((0, 2, 300))
            for key, value in columns.items()
        }
    elif how == 6:
        other = draw.choice(names)
        return {**columns, name: columns[other], other: values}
    else:
        values = _strange(values, draw)
    return {**columns, name: values}


def parquet(columns: Columns, draw: Random) -> bytes:
    """Return the bytes of a file; a column may get another Arrow type that its values allow."""
    size = min(max((len(values) for values in columns.values()), default=0), MOST_ROWS)
    values = {
        name: [given[n % len(given)] if len(given) else None for n in range(size)]
        for name, given in columns.items()
    }
    kinds = {name: draw.choice(_TYPES) if draw.random() < 0.06 else None for name in columns}
    options = {
        "compression": draw.choice(("none", "snappy", "zstd", "gzip", "lz4", "brotli")),
        "use_dictionary": draw.random() < 0.6,
        "data_page_version": draw.choice(("1.0", "2.0")),
        "version": draw.choice(("1.0", "2.4", "2.6")),
        "row_group_size": draw.choice((1, 2, 1000)) if size < 100 else 1000,
        "write_statistics": draw.random() < 0.7,
    }
    try:
        return _written(values, kinds, options)
    except pa.ArrowException:  # the format has no such type
        return _written(values, dict.fromkeys(kinds), {})


def _written(columns: Columns, kinds: Mapping[str, Any], options: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    table = pa.table({name: _array(values, kinds[name]) for name, values in columns.items()})
    pq.write_table(table, file, **options)
    return file.getvalue()


def _array(values: list[Any], kind: Any) -> Any:
    for wanted in (kind, None, pa.string()):
        try:
            return pa.array(values, wanted)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, UnicodeError):
            values = (
                [str(v).encode("utf-8", "replace").decode() for v in values]
                if wanted is None
                else values
            )
    return pa.nulls(len(values))
