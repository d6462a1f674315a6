"""The files of a data set in Ragstone's own layout: their digests, rows and fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ragstone.core.fingerprint import digest_file
from ragstone.data.readers.folder import CONVERSATIONS, CORPUS_FILES, QREL_FILES, QUERY_FILES
from ragstone.data.readers.rows import decoded, find_file, has_end, json_rows, lines

Kind: TypeAlias = Literal["passages", "queries", "conversations", "qrels", "other"]
ValueType: TypeAlias = Literal["text", "integer", "number", "boolean", "object"]
_BESIDE: Final = (
    *("build.json", "rejected.parquet", "items.jsonl", "summary.json", "changes.jsonl"),
    *("cutting.json", "labels.jsonl", "to-label.jsonl"),
)
"""Files that Ragstone's commands write beside a data set."""


@dataclass(frozen=True)
class FieldFacts:
    """A field of the rows of a file."""

    type: ValueType
    """The type of its values, or of their items; `text` if they differ."""
    is_list: bool = False
    inner: tuple[str, ...] = ()
    """The fields of an object."""


@dataclass(frozen=True)
class DataFile:
    """A file of a data set."""

    name: str
    """Its path within the folder, with `/`."""
    kind: Kind
    size: int
    """Bytes."""
    sha256: str
    rows: int | None
    """None for files that are not tables."""
    fields: Mapping[str, FieldFacts]
    """The fields of its rows, in order; {} if they have no names."""


def data_files(folder: Path) -> list[DataFile]:
    """Return the files of a data set: those with data, then those on how it was made."""
    return [_file(folder, path, kind) for path, kind in _paths(folder)]


def _paths(folder: Path) -> Iterator[tuple[Path, Kind]]:
    named: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("queries", QUERY_FILES),
        ("conversations", (CONVERSATIONS,)),
        ("passages", CORPUS_FILES),
        ("qrels", QREL_FILES),
    )
    for kind, names in named:
        if path := find_file(folder, *names):
            yield path, kind
    for path in sorted((folder / "qrels").glob("*.tsv*")):
        yield path, "qrels"
    marks = sorted(folder.glob("*.made-by.json"))
    for path in (*marks, *(folder / name for name in _BESIDE)):
        if path.is_file():
            yield path, "other"


def _file(folder: Path, path: Path, kind: Kind) -> DataFile:
    name = path.relative_to(folder).as_posix()
    rows: int | None = None
    fields: dict[str, FieldFacts] = {}
    if kind == "qrels":
        rows, fields = _table(path)
    elif has_end(path, ".jsonl"):
        rows, fields = _objects(path)
    elif kind != "other":
        rows = sum(1 for _ in lines(path))
    return DataFile(name, kind, path.stat().st_size, digest_file(path), rows, fields)


def _objects(path: Path) -> tuple[int, dict[str, FieldFacts]]:
    fields: dict[str, FieldFacts] = {}
    count = 0
    for _, row in json_rows(path):
        count += 1
        for name, value in row.items():
            if value is not None:
                found, known = _facts(value), fields.get(name)
                fields[name] = found if known in (None, found) else _both(known, found)
    return count, fields


def _facts(value: Any) -> FieldFacts:
    is_list = isinstance(value, list)
    item = next(iter(value), "") if is_list else value
    if isinstance(item, Mapping):
        return FieldFacts("object", is_list, tuple(item))
    # A boolean is an integer in Python.
    kinds: tuple[tuple[type, ValueType], ...] = (
        *((bool, "boolean"), (int, "integer")),
        (float, "number"),
    )
    return FieldFacts(
        next((name for kind, name in kinds if isinstance(item, kind)), "text"), is_list
    )


def _both(a: FieldFacts, b: FieldFacts) -> FieldFacts:
    """Return the facts of a field whose values differ in type."""
    is_list, inner = a.is_list or b.is_list, tuple(dict.fromkeys((*a.inner, *b.inner)))
    if a.type == b.type:
        return FieldFacts(a.type, is_list, inner)
    numbers = {a.type, b.type} == {"integer", "number"}
    return FieldFacts("number" if numbers else "text", is_list)


def _table(path: Path) -> tuple[int, dict[str, FieldFacts]]:
    """Return the rows of a file of qrels, and its columns if it has a header."""
    count, columns = 0, list[str]()
    for number, line in lines(path):
        cells = decoded(line).split("\t")
        if number == 1 and len(cells) > 1 and not cells[-1].strip().lstrip("-").isdigit():
            columns = [cell.strip() for cell in cells]
        else:
            count += 1
    last = len(columns) - 1
    types: list[ValueType] = ["integer" if n == last else "text" for n in range(len(columns))]
    return count, {name: FieldFacts(kind) for name, kind in zip(columns, types, strict=True)}
