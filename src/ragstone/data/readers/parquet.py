"""Parquet corpora, queries and qrels, read batch by batch as Arrow columns."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal

from arro3.core import Array, DataType, RecordBatch

from ragstone.core import limits
from ragstone.core.regular_files import is_there, open_regular
from ragstone.core.schemas import CORPUS
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.base import Reader
from ragstone.data.readers.folder import judged_only
from ragstone.data.readers.parquet_columns import (
    CORPUS_FIELDS,
    QREL_FIELDS,
    QUERY_FIELDS,
    ParquetFile,
    RowError,
    batches,
    check_ids,
    check_labels,
    find_columns,
    rows,
    texts,
)
from ragstone.data.readers.qrels import Judgement, Known, collect_qrels, read_qrels
from ragstone.data.readers.record_rows import add_rows, query_rows
from ragstone.data.readers.rows import FieldError, Ids, listed, show
from ragstone.data.table_builder import Pieces, qrels, queries
from ragstone.errors import ConfigError, DatasetError, did_you_mean

if TYPE_CHECKING:
    from arro3.core import Schema, Table

_LOG: Final = logging.getLogger(__name__)
USUAL_FILES: Final = ("{}.parquet", "{}-*.parquet", "{}/*.parquet")
_SPLIT: Final = ("qrels/{}.parquet", "qrels/{}-*.parquet", "qrels/{}.tsv")


@dataclass(frozen=True)
class FolderFiles:
    """The files of a folder."""

    folder: Path

    @property
    def title(self) -> str:
        """Name in errors and reports."""
        return self.folder.resolve().name

    def names(self) -> list[str]:
        """Return the paths of all files, sorted, with `/` between folders."""
        found = (path for path in self.folder.rglob("*") if is_there(path))
        return sorted(path.relative_to(self.folder).as_posix() for path in found)

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading and seeking."""
        return open_regular(self.path(name))

    def path(self, name: str) -> Path:
        """Return the local path of a file."""
        return self.folder / name


@dataclass(frozen=True, kw_only=True)
class Layout(Reader):
    """Files and columns of a data set; empty patterns and mappings mean the usual names.

    Args:
        corpus: pattern of the names of the passages' files.
        queries: pattern of the names of the queries' files.
        qrels: pattern of the names of the judgements' files.
        split: name of the qrels to read; only the queries judged in them are kept.
        corpus_columns: field (passage_id, text, title, document_id) -> column.
        query_columns: field (query_id, text, gold_answers, rewrite, history) -> column.
        qrel_columns: field (query_id, passage_id, relevance) -> column.
        labels: columns of the corpus that become labels of the passages.
        limit: maximum number of passages, read from the beginning; 0 reads all. The data set's name
            contains the limit.
        dangling_qrels: whether qrels that name an unknown query or passage are an error or are left
            out.
    """

    corpus: str = ""
    queries: str = ""
    qrels: str = ""
    split: str = "test"
    corpus_columns: Mapping[str, str] = field(default_factory=dict)
    query_columns: Mapping[str, str] = field(default_factory=dict)
    qrel_columns: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    limit: int = 0
    dangling_qrels: Literal["error", "drop"] = "error"

    def __post_init__(self) -> None:
        """Check names and ranges."""
        for key, fields in (
            ("corpus_columns", CORPUS_FIELDS),
            ("query_columns", QUERY_FIELDS),
            ("qrel_columns", QREL_FIELDS),
        ):
            for name in getattr(self, key):
                if name not in fields:
                    raise ConfigError(f"{key}: unknown field {name!r}{did_you_mean(name, fields)}")
        if self.limit < 0:
            raise ConfigError(f"limit must be 0 (all passages) or more, found {self.limit}")


@dataclass(frozen=True)
class ParquetReader(Layout):
    """Reads a folder of Parquet files: `corpus`, `queries` and `qrels`, each one file or several.

    The usual names are `corpus.parquet`, `corpus-*.parquet` or `corpus/*.parquet`, and likewise for
    queries and qrels; qrels may also be `qrels/<split>*.parquet` or `qrels/<split>.tsv`. Queries
    are required. Further columns of queries become labels.

    Args:
        path: the folder.
    """

    path: str | Path

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with file and row if it is malformed."""
        folder = Path(self.path)
        if not folder.is_dir():
            raise DatasetError(f"{folder} is not a folder; it should contain queries.parquet")
        return read_layout(FolderFiles(folder), self)


def read_layout(files: FolderFiles, layout: Layout) -> Dataset:
    """Return the data set in these files."""
    names = files.names()
    corpus_names = _find(names, "corpus", layout.corpus)
    query_names = _find(names, "queries", layout.queries)
    if not query_names:
        raise DatasetError(
            f"{files.title} has no Parquet file of queries: looked for "
            f"{', '.join(p.format('queries') for p in USUAL_FILES)}; found "
            f"{listed(names, limits.MAX_LISTED_FILES) or 'nothing'}; name them with "
            f"queries: PATTERN"
        )
    corpus, passage_ids, is_cut = _read_corpus(_parquet_files(files, corpus_names), layout)
    asked, query_ids = _read_queries(_parquet_files(files, query_names), layout)
    known = Known(query_ids.keys(), passage_ids if corpus_names else None)
    judged, is_split = _read_qrels(files, names, layout, known, is_cut=is_cut)
    name = f"{files.title}, first {layout.limit:,} passages" if is_cut else files.title
    dataset = Dataset(name, asked, Corpus(corpus), judged)
    return judged_only(dataset) if is_split or (is_cut and judged.num_rows) else dataset


def _find(names: Sequence[str], table: str, pattern: str) -> list[str]:
    """Return the files of one table, in order; raise `DatasetError` if a pattern matches none."""
    if pattern:
        found = [name for name in names if fnmatch(name, pattern)]
        if not found:
            raise DatasetError(
                f"no file matches {table}: {pattern!r}{did_you_mean(pattern, names)}"
            )
        return found
    for usual in USUAL_FILES:
        found = [name for name in names if fnmatch(name, usual.format(table))]
        if found:
            return found
    return []


def _parquet_files(files: FolderFiles, names: Sequence[str]) -> list[ParquetFile]:
    return [ParquetFile(f"{files.title}/{name}", partial(files.open, name)) for name in names]


def _read_corpus(files: Iterable[ParquetFile], layout: Layout) -> tuple[Table, set[str], bool]:
    """Return the CORPUS table, its ids, and whether the limit left out passages."""
    pieces = Pieces(CORPUS)
    seen: set[str] = set()
    for file in files:
        columns: dict[str, str] = {}
        for first, batch in batches(file):
            columns = columns or _corpus_columns(batch.schema, file.name, layout)
            room = layout.limit - len(seen) if layout.limit else batch.num_rows
            kept = batch.slice(0, room) if room < batch.num_rows else batch
            try:
                pieces.add(_passages(kept, columns, layout.labels, seen))
            except FieldError as error:
                row = f", row {first + error.place}" if isinstance(error, RowError) else ""
                raise DatasetError(f"{file.name}{row}: {error}") from error
            if room < batch.num_rows:
                return pieces.finish(), seen, True
    return pieces.finish(), seen, False


def _corpus_columns(schema: Schema, name: str, layout: Layout) -> dict[str, str]:
    for label in layout.labels:
        if label not in schema.names:
            raise DatasetError(
                f"{name} has no column {label!r} for labels{did_you_mean(label, schema.names)}"
            )
    return find_columns(schema, layout.corpus_columns, CORPUS_FIELDS, name, "corpus_columns")


def _passages(
    batch: RecordBatch, columns: Mapping[str, str], labels: Sequence[str], seen: set[str]
) -> RecordBatch:
    """Return rows in the CORPUS schema, and add their ids to `seen`."""
    ids = texts(batch, columns["passage_id"], ids=True)
    _add_once(list(ids.to_pylist()), columns["passage_id"], seen)
    arrays = [
        ids,
        texts(batch, columns["text"]),
        _optional(batch, columns.get("title")),
        _optional(batch, columns.get("document_id"), ids=True),
        _labels(batch, labels),
    ]
    return RecordBatch.from_arrays(arrays, schema=CORPUS)


def _add_once(ids: Sequence[str], column: str, seen: set[str]) -> None:
    check_ids(ids, column)
    new = set(ids)
    if len(new) < len(ids) or not seen.isdisjoint(new):
        before = set[str]()
        for place, passage_id in enumerate(ids):
            if passage_id in seen or passage_id in before:
                raise RowError(place, f"the id {show(passage_id)} occurs in an earlier row already")
            before.add(passage_id)
    seen |= new


def _optional(batch: RecordBatch, column: str | None, *, ids: bool = False) -> Array:
    if column is None:
        return Array([""] * batch.num_rows, type=DataType.string())
    return texts(batch, column, ids=ids, optional=True)


def _labels(batch: RecordBatch, names: Sequence[str]) -> Array:
    if not names:
        return _optional(batch, None)
    values = batch.select(list(names)).to_struct_array().to_pylist()
    return Array([check_labels(row).take_labels() for row in values], type=DataType.string())


def _read_queries(files: Iterable[ParquetFile], layout: Layout) -> tuple[Table, Ids]:
    builder, ids = queries(), Ids()
    for file in files:
        found = rows(file, layout.query_columns, QUERY_FIELDS, "query_columns")
        add_rows(builder, ids, file.name, found, _query_rows, unit="row")
    if not ids:
        raise DatasetError("the files of queries contain no query; a data set needs queries")
    return builder.finish(), ids


def _query_rows(row: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    fields = check_labels(row)
    query_id, answers = fields.pop("query_id"), fields.pop("gold_answers", None)
    written = str(query_id) if type(query_id) is int else query_id
    return [*query_rows({**fields, "_id": written, "answers": answers})]


def _read_qrels(
    files: FolderFiles,
    names: Sequence[str],
    layout: Layout,
    known: Known,
    *,
    is_cut: bool,
) -> tuple[Table, bool]:
    """Return the QRELS table, and whether it is one split of several."""
    patterns = [] if layout.qrels else [pattern.format(layout.split) for pattern in _SPLIT]
    split = next((found for p in patterns if (found := [n for n in names if fnmatch(n, p)])), [])
    found = split or _find(names, "qrels", layout.qrels)
    if not split and not layout.qrels and any(name.startswith("qrels/") for name in names):
        there = [name for name in names if name.startswith("qrels/")]
        raise DatasetError(
            f"{files.title} has no qrels of the split {layout.split!r}; set `split`, or qrels: "
            f"PATTERN, for one of: {', '.join(there)}"
        )
    if not found:
        return qrels().finish(), False
    if found[0].endswith(".tsv"):
        table = read_qrels(
            files.path(found[0]), known, dangling="drop" if is_cut else layout.dangling_qrels
        )
        return table, bool(split)
    judged = _judgements(_parquet_files(files, found), layout)
    shown = judged if not is_cut else _within(judged, known)
    table = collect_qrels(shown, f"{files.title}/{found[0]}", known, dangling=layout.dangling_qrels)
    return table, bool(split)


def _within(judged: Iterable[Judgement], known: Known) -> Iterator[Judgement]:
    """Leave out judgements of passages beyond the limit, and log their number."""
    left_out = 0
    for one in judged:
        if known.passage_ids is None or one[2] in known.passage_ids:
            yield one
        else:
            left_out += 1
    if left_out:
        _LOG.warning(
            "%s judgements name passages beyond the limit, and are left out", f"{left_out:,}"
        )


def _judgements(files: Iterable[ParquetFile], layout: Layout) -> Iterator[Judgement]:
    for file in files:
        found = rows(file, layout.qrel_columns, QREL_FIELDS, "qrel_columns")
        for place, row in ((f"row {number}", row) for number, row in found):
            grade = row["relevance"]
            pair = [str(v) if type(v) is int else v for v in (row["query_id"], row["passage_id"])]
            if not all(type(v) is str and v for v in pair):
                raise DatasetError(
                    f"{file.name}, {place}: ids must be text or whole numbers, found {show(pair)}"
                )
            if type(grade) not in (int, float, bool) or grade % 1 != 0 or abs(grade) >= 10**18:
                raise DatasetError(
                    f"{file.name}, {place}: the relevance must be a whole number such as 0, 1 or "
                    f"2, found {show(grade)}"
                )
            yield place, pair[0], pair[1], int(grade)
