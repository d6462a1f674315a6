"""Digests of everything that could change a result: plain data, components and tables."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.builtins import NAMES_IN_KEYS, name_of
from ragstone.core.component import KEY_BY_CONTENT, Component, in_cache_key
from ragstone.core.user_code import class_name, source_digest
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from arro3.core import Table

SMALL: Final = 1 << 28
"""Characters of a table that is hashed in one piece: 350,000 passages of 100 words."""
_BLOCK: Final = 4096
_NUMBER: Final = 8


def fingerprint(value: object) -> str:
    """Return the SHA-256 of plain data, the same in every process and on every machine.

    Raises `TypeError` for anything else than None, bool, int, finite float, str, a component, or a
    list, tuple or string-keyed mapping of those: a text that changes from run to run (a memory
    address, a set) would make a key that never matches, or one that matches by accident.

    >>> fingerprint({"a": 1, "b": [True, None]}) == fingerprint({"b": (True, None), "a": 1})
    True
    """
    return digest_json(_plain(value))


def unit_hash(text: str) -> float:
    """Return a number from 0 up to 1 that a text alone decides, evenly spread over texts.

    >>> round(unit_hash("q1"), 3)
    0.779
    """
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2.0**64


def digest_json(value: object) -> str:
    """Return the SHA-256 of a value as JSON in ASCII, with sorted keys and without white space."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise TypeError(f"cannot fingerprint the number {value!r}: not finite")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: _plain(item) for key, item in value.items()}
        raise TypeError(f"cannot fingerprint a mapping with keys that are not text: {value!r}")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return cache_key_parts(value)
    raise TypeError(f"cannot fingerprint a {type(value).__name__}: not plain data")


def cache_key_parts(component: object) -> dict[str, Any]:
    """Return a component's name, source, parameters and revision, which decide its output."""
    if not dataclasses.is_dataclass(component) or isinstance(component, type):
        raise TypeError(f"{component!r} is not a component: components are frozen dataclasses")
    kind = type(component)
    fields = [f for f in dataclasses.fields(component) if in_cache_key(f, component)]
    by_value = [f for f in fields if not KEY_BY_CONTENT.items() <= f.metadata.items()]
    values = {f.name: getattr(component, f.name) for f in by_value}
    if isinstance(component, Component):
        values |= component.key_values
    made: dict[str, Any] = {
        "component": NAMES_IN_KEYS.get(name_of(kind)) or name_of(kind) or class_name(kind),
        "source": source_digest(kind),
        "parameters": {name: _parameter(component, name, value) for name, value in values.items()},
    }
    if isinstance(component, Component) and component.content_revision is not None:
        made["revision"] = _plain(component.content_revision)
    return made


def sources(made_by: Any) -> Iterator[str]:
    """Yield the digests of the code in a component's cache key parts, and in those of its parts."""
    if isinstance(made_by, list):
        for item in made_by:
            yield from sources(item)
    elif isinstance(made_by, Mapping):
        for key, value in made_by.items():
            yield from [value] if _is_source(key, made_by) else sources(value)


def without_sources(made_by: Any) -> Any:
    """Return a component's cache key parts without the digests of code."""
    if isinstance(made_by, list):
        return [without_sources(item) for item in made_by]
    if isinstance(made_by, Mapping):
        return {k: without_sources(v) for k, v in made_by.items() if not _is_source(k, made_by)}
    return made_by


def _is_source(key: str, made_by: Mapping[str, Any]) -> bool:
    """Return whether a key is that of a component's code, not that of a parameter."""
    return key == "source" and "component" in made_by


def _parameter(component: object, name: str, value: object) -> Any:
    try:
        return _plain(value)
    except TypeError as error:
        raise ConfigError(
            f"{type(component).__name__}: {error}; the parameter {name!r} is part of the cache key,"
            " so its value must be None, a bool, number, text, list or mapping",
            key=name,
        ) from error


def digest_table(table: Table) -> str:
    """Return the SHA-256 of a table's Arrow IPC stream; Parquet bytes depend on the writer.

    A table of at most 2^28 characters is one stream of one batch. A larger table would be copied
    twice and may not fit into one batch: it is one stream per 4,096 rows. The rows alone decide
    between the two, so that equal tables have one digest, whatever their pieces in memory.
    """
    return digest_streams(map(_fresh, _blocks(table)) if _is_large(table) else [table])


def digest_streams(tables: Iterable[Table]) -> str:
    """Return the SHA-256 of the Arrow IPC streams of some tables, one after another."""
    from arro3.io import write_ipc_stream

    sink = _HashingSink()
    for table in tables:
        write_ipc_stream(table.combine_chunks(), sink)  # type: ignore[arg-type]  # only writes
        del table  # before the next one is made
    return sink.hash.hexdigest()


def _is_large(table: Table) -> bool:
    if table.nbytes <= SMALL:
        return False
    counted = 0
    for block in _blocks(table):
        counted += count_characters(block)
        if counted > SMALL:
            return True
    return False


def count_characters(table: Table) -> int:
    """Return the number of characters of a table, of which a number has eight."""
    return sum(_characters(v) for column in table.columns for v in column.to_pylist())


def _characters(value: Any) -> int:
    """Return a value's characters, which are never more than its bytes; a number has eight."""
    if type(value) is str:
        return len(value)
    if type(value) is list:
        return sum(map(_characters, value))
    return 0 if value is None else _NUMBER


def _fresh(block: Table) -> Table:
    """Return a copy: in a slice, the bytes below nulls are those of the surrounding rows."""
    import numpy as np
    from arro3.core import Array, Table

    (batch,) = block.combine_chunks().to_batches()
    places = Array.from_numpy(np.arange(batch.num_rows, dtype=np.int64))
    return Table.from_batches([batch.take(places)], schema=block.schema)


def _blocks(table: Table) -> Iterator[Table]:
    for start in range(0, table.num_rows, _BLOCK):
        yield table.slice(start, min(_BLOCK, table.num_rows - start))


class _HashingSink(io.RawIOBase):
    """A file that hashes its content: a second gigabyte in memory is not needed."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def writable(self) -> bool:
        """Return True."""
        return True

    def seek(self, _offset: int, _whence: int = 0, /) -> int:
        """Raise: the writer requires the method and never calls it."""
        raise io.UnsupportedOperation

    def write(self, data: Any, /) -> int:
        """Hash the bytes."""
        self.hash.update(data)
        return memoryview(data).nbytes


def short_digest(text: str) -> str:
    """Return the id of a text that has no other: the first 12 digits of its SHA-256.

    >>> short_digest("Lisbon is on the Tagus.")
    'a379dcad4f49'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
