"""Ragstone's own layout: a folder of JSON lines and a TSV file. BEIR's layout is a subset of it.

A line is a JSON object; any other field becomes a label of the query or passage:

    corpus.jsonl         {"_id", "text", "title"?, "document"?}
    queries.jsonl        {"_id", "text", "answers"?, "rewrite"?, "history"?: [{"role", "text"}]}
    conversations.jsonl  {"_id", "turns": [{"user", "agent"?, "answers"?, "rewrite"?}]}
    qrels.tsv            query id, passage id, relevance; BEIR's qrels/test.tsv as well

TREC's files are read too: corpus.tsv and queries.tsv (id, tab, text), qrels.txt (four columns).
"""

from __future__ import annotations

import logging
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ragstone.core.regular_files import is_there
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset, DataSource
from ragstone.data.machine_qrels import END, machine_made
from ragstone.data.readers.base import Reader
from ragstone.data.readers.qrels import Known, read_qrels
from ragstone.data.readers.record_rows import add_rows, passage_rows, query_rows, turn_rows
from ragstone.data.readers.rows import (
    FieldError,
    Ids,
    find_file,
    listed,
    row_error,
    show,
    table_rows,
)
from ragstone.data.table_builder import passages, qrels, queries
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

_LOG: Final = logging.getLogger(__name__)
CORPUS_FILES: Final = ("corpus.jsonl", "corpus.tsv")
QUERY_FILES: Final = ("queries.jsonl", "queries.tsv")
QREL_FILES: Final = ("qrels.tsv", "qrels.txt")
CONVERSATIONS: Final = "conversations.jsonl"
_BESIDE_A_CORPUS: Final = (*QUERY_FILES, CONVERSATIONS, *QREL_FILES)
_DATA_ENDS: Final = (".jsonl", ".tsv", ".txt", ".json", ".csv", ".parquet")
"""Ends of the names of files that may be data."""
_OTHERS: Final = (
    *("readme", "license", "licence", "changes.jsonl", "items.jsonl", "cutting.json", "document"),
    *("croissant", "card.md", "build.json", "summary.json", "labels.jsonl", "to-label.jsonl"),
    "rejected.parquet",
)
"""Beginnings of the names of files that are not part of a data set, some of Ragstone's own."""


@dataclass(frozen=True)
class FolderReader(Reader):
    """Reads a folder in Ragstone's own layout, or in BEIR's.

    Queries are required (`queries.jsonl`, `conversations.jsonl` or both); a corpus and qrels are
    optional. Each file may be gzipped (`.gz`).

    Args:
        path: the folder.
        split: file of a BEIR folder `qrels/`; only the queries judged in it are kept.
        dangling_qrels: whether qrels that name an unknown query or passage are an error or are left
            out.
    """

    path: str | Path
    split: str = "test"
    dangling_qrels: Literal["error", "drop"] = "error"

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with file and line if it is malformed."""
        folder = Path(self.path)
        if not folder.is_dir():
            raise DatasetError(f"{folder} is not a folder; it should contain queries.jsonl")
        corpus_file = find_file(folder, *CORPUS_FILES)
        corpus, passage_ids = (
            _read_corpus(corpus_file) if corpus_file else (passages().finish(), None)
        )
        qrels_file, is_split = self._find_qrels(folder)
        table, query_ids = _read_queries(folder)
        judged = qrels().finish()
        if qrels_file:
            known = Known(query_ids, passage_ids)
            judged = read_qrels(qrels_file, known, dangling=self.dangling_qrels)
        if not corpus_file and (others := unread_files(folder)):
            _LOG.warning(
                "%s has no corpus.jsonl, so no passage was read; its other files are %s",
                folder,
                listed(others),
            )
        source = DataSource(machine_qrels=machine_made(qrels_file) if qrels_file else "")
        dataset = Dataset(folder.resolve().name, table, Corpus(corpus), judged, source)
        return judged_only(dataset) if is_split else dataset

    def _find_qrels(self, folder: Path) -> tuple[Path | None, bool]:
        """Return the file of qrels, and whether it is one split of several."""
        plain, splits = find_file(folder, *QREL_FILES), folder / "qrels"
        if not splits.is_dir():
            return plain, False
        if plain:
            raise DatasetError(
                f"{folder} contains {plain.name} and the folder qrels; keep one of them"
            )
        found = find_file(splits, f"{self.split}.tsv")
        if found is None:
            names = sorted({path.name.partition(".")[0] for path in splits.glob("*.tsv*")})
            raise DatasetError(
                f"{splits} has no {self.split}.tsv; set `split` to one of: "
                f"{', '.join(names) or 'none'}"
            )
        return found, True


def unread_files(folder: Path) -> list[str]:
    """Return the names of a folder's files that may be data, and that this reader does not read."""
    known = {CONVERSATIONS, *CORPUS_FILES, *QUERY_FILES, *QREL_FILES}
    names = (path.name for path in sorted(folder.iterdir()) if is_there(path))
    plain = ((name, name.removesuffix(".gz")) for name in names)
    return [
        name
        for name, base in plain
        if base.endswith(_DATA_ENDS)
        and not base.endswith(END)
        and base not in known
        and not base.lower().startswith((".", *_OTHERS))
    ]


def judged_only(dataset: Dataset) -> Dataset:
    """Return the data set with its judged queries: BEIR's files contain those of all splits."""
    judged = dataset.qrels.keys()
    ids = dataset.query_table.column("query_id").to_pylist()
    places = [place for place, query_id in enumerate(ids) if query_id in judged]
    if not places:
        raise DatasetError(
            f"{dataset.name}: the qrels judge no query; name a split with judgements"
        )
    return dataset.select(places)


def read_corpus(path: Path) -> Corpus:
    """Return the passages of a file in the form of `corpus.jsonl`, whatever its name."""
    return Corpus(_read_corpus(path)[0])


def read_corpus_alone(folder: Path) -> Dataset | None:
    """Return a folder with passages alone as a data set, or None if it has other files too."""
    found = find_file(folder, "corpus.jsonl") if folder.is_dir() else None
    beside = any(find_file(folder, name) for name in _BESIDE_A_CORPUS)
    if found is None or beside or (folder / "qrels").exists():
        return None
    return Dataset(folder.resolve().name, queries().finish(), read_corpus(found), qrels().finish())


def _read_corpus(path: Path) -> tuple[Table, set[str]]:
    builder, seen = passages(), set[str]()
    for number, row in table_rows(path):
        try:
            (made,) = passage_rows(row)
            if made[0] in seen:
                raise _repeated(made[0], path)
        except FieldError as error:
            raise row_error(path, number, error) from error
        seen.add(made[0])
        builder.add(made)
    if not seen:
        raise DatasetError(f"{path} contains no passage; fill it, or remove it if none is needed")
    return builder.finish(), seen


def _repeated(passage_id: str, path: Path) -> FieldError:
    # Line numbers of a million ids would take memory for this message alone.
    places = (n for n, row in table_rows(path) if passage_rows(row)[0][0] == passage_id)
    return FieldError(
        f"the _id {show(passage_id)} occurs in line {next(places)} already; "
        "give each passage its own id"
    )


def _read_queries(folder: Path) -> tuple[Table, AbstractSet[str]]:
    queries_file = find_file(folder, *QUERY_FILES)
    conversations_file = find_file(folder, CONVERSATIONS)
    if not (queries_file or conversations_file):
        raise DatasetError(
            f"{folder} contains neither queries.jsonl nor conversations.jsonl (or .gz); "
            f"a data set needs queries"
        )
    builder, ids = queries(), Ids()
    for path, rows_of in ((queries_file, query_rows), (conversations_file, turn_rows)):
        if path:
            add_rows(builder, ids, path, table_rows(path), rows_of)
    if not ids:
        raise DatasetError(
            f"{folder} contains no query: {queries_file or conversations_file} is empty"
        )
    return builder.finish(), ids.keys()
