"""MIRAGE's files: queries, a pool of five passages per query, and its oracle passage.

As published with the code: `dataset.json`, `doc_pool.json` and `oracle.json`. As copied to the hub:
one row per query, in JSON lines or Parquet, with `doc_pool` (a struct of four lists) and `oracle`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from ragstone.core.regular_files import is_there, open_regular
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.base import Reader
from ragstone.data.readers.field_names import check_names
from ragstone.data.readers.parquet_columns import ParquetFile, batches
from ragstone.data.readers.qrels import report_dangling
from ragstone.data.readers.rows import (
    FieldError,
    Ids,
    Row,
    find_file,
    json_document,
    json_rows,
    listed,
    reading,
    show,
)
from ragstone.data.table_builder import passages, qrels, queries
from ragstone.errors import DatasetError

_POOL_FIELDS: Final = ("mapped_id", "doc_name", "doc_chunk", "support")
_HUB_ENDS: Final = (".parquet", ".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class MirageReader(Reader):
    """Reads MIRAGE from its folder, or from its hub copy (a file, or a folder of Parquet files).

    The pool of a query has five rows. Row n of query q (from 1) is the passage "q#n", with the
    label `mapped_id`. The oracle has relevance 2, so that it is the first gold passage; other rows
    with support 1 have 1; rows with support 0 have 0, that is judged and not relevant. Without
    `doc_pool` the data set has queries alone.

    Args:
        path: the folder or the file.
        dangling_qrels: whether pool rows without a query and oracles without a pool row are an
            error or are left out.
    """

    path: str | Path
    dangling_qrels: Literal["error", "drop"] = "error"

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with the place if it is malformed."""
        path = Path(self.path)
        files = _hub_files(path)
        tables = _Tables()
        if files:
            _read_hub(files, tables)
        else:
            _read_folder(path if path.is_dir() else path.parent, tables)
        if not tables.query_ids:
            raise DatasetError(f"{path} contains no query; a data set needs queries")
        name = path.parent.name if path.name.startswith("dataset.json") else path.name.split(".")[0]
        return tables.finish(name or path.resolve().name, path, self.dangling_qrels)


@dataclass
class _Tables:
    """Rows read so far; `finish` matches oracles to their pool rows."""

    queries: Any = field(default_factory=queries)
    passages: Any = field(default_factory=passages)
    query_ids: Ids = field(default_factory=Ids)
    judged: dict[str, list[tuple[str, str, int]]] = field(default_factory=dict)
    """Query id -> (passage id, text, support) of its pool."""
    oracles: dict[str, str] = field(default_factory=dict)
    """Query id -> text of the oracle passage."""

    def add_query(self, row: Row, place: str) -> str:
        check_names(row, ("query", "answer"))
        query_id, text = row.take_id("query_id"), row.take_question("query")
        self.query_ids.add(query_id, place)
        answers = row.take_texts("answer") or []
        self.queries.add((query_id, text, answers, "", "", row.take_labels()))
        return query_id

    def add_pool_row(self, row: Row) -> None:
        mapped_id, text = row.take_id("mapped_id"), row.take_text("doc_chunk")
        title, support = row.take_text("doc_name", optional=True), row.pop("support", None)
        if support not in (0, 1):
            raise FieldError(f"the field 'support' must be 0 or 1, found {show(support)}")
        pool = self.judged.setdefault(mapped_id, [])
        passage_id = f"{mapped_id}#{len(pool) + 1}"
        pool.append((passage_id, text, int(support)))
        row["mapped_id"] = mapped_id
        labels = row.take_labels()
        self.passages.add((passage_id, text, title, title, labels))

    def finish(self, name: str, path: Path, dangling: Literal["error", "drop"]) -> Dataset:
        known, judgements, stray = self.query_ids.keys(), qrels(), []
        for query_id, pool in self.judged.items():
            if query_id not in known:
                stray.append(f"pool of query {show(query_id)} (no such query)")
                continue
            best = self._oracle_of(query_id, pool)
            if query_id in self.oracles and best is None:
                stray.append(f"oracle of query {show(query_id)} (not in its pool)")
            for passage_id, _, support in pool:
                judgements.add((query_id, passage_id, 2 if passage_id == best else support))
        stray += [
            f"oracle of query {show(q)} (no pool)" for q in self.oracles if q not in self.judged
        ]
        if stray:
            report_dangling(
                f"{path}: {len(stray):,} rows without a counterpart: {listed(stray)}", dangling
            )
        return Dataset(
            name, self.queries.finish(), Corpus(self.passages.finish()), judgements.finish()
        )

    def _oracle_of(self, query_id: str, pool: list[tuple[str, str, int]]) -> str | None:
        chosen = self.oracles.get(query_id)
        same = [(support, passage_id) for passage_id, text, support in pool if text == chosen]
        # If a text occurs twice in a pool, the oracle is the row marked as supporting.
        return max(same, key=lambda found: found[0])[1] if same else None


def _read_folder(folder: Path, tables: _Tables) -> None:
    dataset = find_file(folder, "dataset.json")
    if dataset is None:
        raise DatasetError(
            f"{folder} contains no dataset.json (or .gz), and no hub copy "
            f"(a .parquet or .jsonl file with one row per query)"
        )
    for place, row in _items(dataset):
        with reading(dataset, place):
            tables.add_query(Row.of(row), f"{dataset.name}, {place}")
    if pool := find_file(folder, "doc_pool.json"):
        for place, row in _items(pool):
            with reading(pool, place):
                tables.add_pool_row(Row.of(row))
        if oracle := find_file(folder, "oracle.json"):
            tables.oracles = _oracles(oracle)


def _items(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield place and item of a JSON file that is a list."""
    content = json_document(path)
    if type(content) is not list:
        raise DatasetError(f"{path}: expected a JSON list of rows, found {show(content)}")
    return ((f"row {number}", row) for number, row in enumerate(content, start=1))


def _oracles(path: Path) -> dict[str, str]:
    """Return query id -> text of `oracle.json`, an object of rows."""
    content = json_document(path)
    if type(content) is not dict:
        raise DatasetError(
            f"{path}: expected a JSON object from query id to a row of the pool, "
            f"found {show(content)}"
        )
    found = {}
    for query_id, row in content.items():
        with reading(path, f"query {show(query_id)}"):
            found[query_id] = Row.of(row).take_text("doc_chunk")
    return found


def _hub_files(path: Path) -> list[Path]:
    """Return the files of a hub copy: `path` itself, or all Parquet files below it."""
    if is_there(path):
        return [path] if path.name.endswith(_HUB_ENDS) else []
    if not path.is_dir():
        raise DatasetError(f"{path}: no such file or folder")
    return [] if find_file(path, "dataset.json") else sorted(path.rglob("*.parquet"))


def _read_hub(files: list[Path], tables: _Tables) -> None:
    for path in files:
        is_parquet = path.suffix == ".parquet"
        for number, row in _parquet_rows(path) if is_parquet else json_rows(path):
            with reading(path, f"row {number}" if is_parquet else number):
                pool, oracle = row.pop("doc_pool", None), row.pop("oracle", None)
                query_id = tables.add_query(row, f"{path.name}, row {number}")
                for member in _pool_rows(pool):
                    member["mapped_id"] = member.get("mapped_id") or query_id
                    tables.add_pool_row(member)
                if oracle is not None:
                    tables.oracles[query_id] = Row.of(oracle).take_text("doc_chunk")


def _parquet_rows(path: Path) -> Iterator[tuple[int, Row]]:
    for first, batch in batches(ParquetFile(str(path), lambda: open_regular(path))):
        try:
            rows = batch.to_struct_array().to_pylist()
        except OverflowError as error:
            raise DatasetError(f"{path} has a date or a duration out of range: {error}") from error
        yield from enumerate(map(Row, rows), start=first)


def _pool_rows(pool: Any) -> list[Row]:
    """Return the rows of a hub pool: a struct of lists of equal length, or a list of structs."""
    if pool is None:
        return []
    if type(pool) is list:
        return [Row.of(row) for row in pool]
    columns = Row.of(pool)
    lists = [value for value in columns.values() if type(value) is list]
    if len(lists) < len(columns) or len({len(one) for one in lists}) > 1:
        raise FieldError(
            f"the field 'doc_pool' must contain lists of equal length: {', '.join(_POOL_FIELDS)}; "
            f"found {show(pool)}"
        )
    return [Row(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]
