"""A table of questions and gold answers, with any column names, as a data set."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.answer_rows import take_query_id, take_texts, with_names
from ragstone.data.readers.base import Reader
from ragstone.data.readers.parquet_columns import check_labels
from ragstone.data.readers.rows import FieldError, Ids, Row, reading
from ragstone.data.readers.table_columns import NAMES, TableColumns, find_columns
from ragstone.data.readers.table_files import TABLE_ENDS, read_table
from ragstone.data.table_builder import passages, qrels, queries
from ragstone.errors import ConfigError

_LOG: Final = logging.getLogger(__name__)
_ID_LENGTH: Final = 12
_OF_SYSTEMS: Final = ("answer", "contexts", "passage_ids", "system")
_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    **{role: NAMES[role] for role in ("query_id", "text", "gold_answers")},
    "context": ("context", "reference_contexts", "gold_contexts"),
}
"""Role -> usual names of its column; a data set's `context` holds the gold passages."""


@dataclass(frozen=True)
class TableReader(Reader):
    """Reads a CSV, TSV, JSON, JSON lines, Parquet or Excel file with one question per row.

    Without a column of gold answers, `answer` is one. Texts in a column `context` (SQuAD's rows) or
    `reference_contexts` become the corpus, and are relevant to the query of their row. The answers
    and contexts of systems in rows of answers are left out. Any other column is a label.

    Args:
        path: the file.
        columns: role (query_id, text, gold_answers, context) -> column, where the name of the
            column does not tell its role.
        sheet: name of the sheet of an Excel file, if several have rows.
    """

    path: str | Path
    columns: Mapping[str, str] = field(default_factory=dict)
    sheet: str = ""

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with file and line if it is malformed."""
        path = Path(self.path)
        return table_dataset(read_table(path, self.sheet), path, self.columns)


def table_dataset(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    source: Path,
    columns: Mapping[str, str] | None = None,
) -> Dataset:
    """Return the data set of numbered rows, one question each.

    Args:
        rows: number and fields of each row.
        source: the file, or a name in its place, for errors and for the data set's name.
        columns: role -> column, as of `TableReader`.

    Raises:
        ConfigError: a column is missing, or two may have one role.
        DatasetError: there is no row, or one is malformed.
    """
    names, all_rows = with_names(rows, source)
    known, of_systems = _columns(names, columns or {}, source)
    if note := known.note(source):
        _LOG.warning("%s", note)
    made = _Tables()
    for number, row in all_rows:
        with reading(source, number):
            named = known.named(row)
            made.add(named, {name: named.pop(name, None) for name in of_systems}, number)
    return made.finish(_title(source))


def _columns(
    names: list[str], written: Mapping[str, str], source: Path
) -> tuple[TableColumns, list[str]]:
    """Return the columns of questions, and the names of those of systems."""
    given = {"text" if role == "query" else role: c for role, c in written.items()}
    usual = [name for name in names if name.lower() in _USUAL["gold_answers"]]
    answer = next((name for name in names if name.lower() == "answer"), "")
    is_gold = answer and not usual and "gold_answers" not in given
    told = {"gold_answers": answer} if is_gold else {}
    found = find_columns(names, {**told, **given}, source, _USUAL)
    found = replace(found, guessed={**found.guessed, **told})
    if "text" not in found.of:
        raise ConfigError(
            f"{source} has no column of questions; its columns are {', '.join(names) or 'none'}; "
            f"name it with columns: {{text: COLUMN}}"
        )
    known = {name for role in _OF_SYSTEMS for name in NAMES[role]} - set(found.of.values())
    return found, [name for name in names if name.lower() in known]


class _Tables:
    """The three tables of a data set during reading."""

    def __init__(self) -> None:
        self.passages, self.queries, self.qrels = passages(), queries(), qrels()
        self.query_ids = Ids()
        self._passage_ids: set[str] = set()

    def add(self, row: Row, of_system: Mapping[str, Any], number: int) -> None:
        """Add a row; of a query that several systems answered, the first row counts."""
        text = row.take_question("text")
        query_id = take_query_id(row, text)
        if query_id in self.query_ids and "system" in of_system:
            return
        self.query_ids.add(query_id, f"line {number}")
        gold = [answer for answer in take_texts(row, "gold_answers") or [] if answer.strip()]
        found = take_texts(row, "context")
        title = row.take_text("title", optional=True) if found else ""
        for context in dict.fromkeys(found or []):
            self.qrels.add((query_id, self._add_passage(context, title), 1))
        labels = check_labels(row).take_labels()
        self.queries.add((query_id, text, list(dict.fromkeys(gold)), "", "", labels))

    def _add_passage(self, text: str, title: str) -> str:
        """Add a passage unless it is there, and return its id: a digest of its text."""
        if not text.strip():
            raise FieldError("the context is empty; leave the cell out, or write its text")
        passage_id = f"p-{hashlib.sha256(text.encode()).hexdigest()[:_ID_LENGTH]}"
        if passage_id not in self._passage_ids:
            self._passage_ids.add(passage_id)
            self.passages.add((passage_id, text, title.replace("_", " "), title, ""))
        return passage_id

    def finish(self, name: str) -> Dataset:
        """Return the data set."""
        corpus = Corpus(self.passages.finish())
        return Dataset(name, self.queries.finish(), corpus, self.qrels.finish())


def _title(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return next((name[: -len(end)] for end in TABLE_ENDS if name.lower().endswith(end)), name)
