"""A table of questions and gold answers, with any column names, as a data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ragstone.core.fingerprint import short_digest
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.answer_rows import (
    take_history,
    take_passages,
    take_query_id,
    take_texts,
    with_format,
    with_names,
)
from ragstone.data.readers.base import Reader
from ragstone.data.readers.foreign_rows import PASSAGE, SENTENCES
from ragstone.data.readers.nuggets import ASSIGNMENTS
from ragstone.data.readers.parquet_columns import check_labels
from ragstone.data.readers.record_rows import messages_to_json
from ragstone.data.readers.rows import FieldError, Ids, Row, listed_names, reading, show
from ragstone.data.readers.table_columns import NAMES, TableColumns, find_columns, tell
from ragstone.data.readers.table_files import TABLE_ENDS, read_table
from ragstone.data.table_builder import passages, qrels, queries
from ragstone.errors import ConfigError
from ragstone.types import Passage, Role

_OF_SYSTEMS: Final = ("answer", "contexts", "passage_ids", "system")
_OF_REPLIES: Final = frozenset(
    {"reason", "setting", "steps", "usage", "confidence", SENTENCES, *ASSIGNMENTS.values()}
)
"""Other fields of recorded answers, which are not labels."""
_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    **{role: NAMES[role] for role in ("query_id", "text", "gold_answers")},
    "context": ("context", "reference_contexts", "gold_contexts"),
}
"""Role -> usual names of its column; a data set's `context` contains the gold passages."""


@dataclass(frozen=True)
class TableReader(Reader):
    """Reads a table of one question per row: CSV, JSON, Parquet, Excel or a folder of `datasets`.

    Without a column of gold answers, `answer` is one. Texts in a column `context` (SQuAD's rows) or
    `reference_contexts` become the corpus, and are relevant to the query of their row. The answers
    and contexts of systems in rows of answers are left out. Any other column is a label.

    Args:
        path: the file, or a folder of the package `datasets`: of its method `save_to_disk`, or a
            copy of a repository of the hub.
        columns: role (query_id, text, gold_answers, context) -> column, if the name of the
            column does not show its role; null if no column has it.
        format: name of the tool that wrote the rows, such as ragas; "" to recognise it, `plain`
            for none.
        split: the split of a folder with several, such as test.
        sheet: name of the sheet of an Excel file, if several have rows.
    """

    path: str | Path
    columns: Mapping[str, str | None] = field(default_factory=dict)
    format: str = ""
    split: str = ""
    sheet: str = ""

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with file and line if it is malformed."""
        path = Path(self.path)
        rows = read_table(path, split=self.split, sheet=self.sheet)
        return table_dataset(rows, path, self.columns, self.format)


def table_dataset(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    source: Path,
    columns: Mapping[str, str | None] | None = None,
    format_name: str = "",
) -> Dataset:
    """Return the data set of numbered rows, one question each.

    Args:
        rows: number and fields of each row.
        source: the file, or a name in its place, for errors and for the data set's name.
        columns: role -> column, as of `TableReader`.
        format_name: name of the tool that wrote the rows, as `format` of `TableReader`.

    Raises:
        ConfigError: a column is missing, two may have one role, or the format is unknown.
        DatasetError: there is no row, or one is malformed.
    """
    names, all_rows, found = with_names(rows, source, format_name)
    if found is None:
        known, of_systems = _columns(names, columns or {}, source)
    else:
        known = _checked(find_columns(names, columns or {}, source, found.columns), names, source)
        known = with_format(known, found, format_name)
        of_systems = [*_OF_SYSTEMS, *_OF_REPLIES]
    if note := known.note(source, in_file=True):
        tell(note, source.absolute())
    made = _Tables()
    for number, row in all_rows:
        with reading(source, number):
            named = known.named(row)
            history = take_history(named, known)
            systems = {name: named.pop(name) for name in of_systems if name in named}
            if found is not None and PASSAGE in named:
                made.add_passage(named)
            else:
                made.add(named, systems, number, history)
    return made.finish(_title(source))


def _columns(
    names: list[str], written: Mapping[str, str | None], source: Path
) -> tuple[TableColumns, list[str]]:
    """Return the columns of questions, and the names of those of systems."""
    given = {"text" if role == "query" else role: c for role, c in written.items()}
    usual = [name for name in names if name.lower() in _USUAL["gold_answers"]]
    answer = next((name for name in names if name.lower() == "answer"), "")
    is_gold = answer and not usual and "gold_answers" not in given
    told = {"gold_answers": answer} if is_gold else {}
    found = find_columns(names, {**told, **given}, source, _USUAL)
    found = _checked(replace(found, guessed={**found.guessed, **told}), names, source)
    known = {name for role in _OF_SYSTEMS for name in NAMES[role]} - set(found.of.values())
    known |= _OF_REPLIES if known & set(names) else set()
    return found, [name for name in names if name.lower() in known]


def _checked(found: TableColumns, names: list[str], source: Path) -> TableColumns:
    """Return columns that have one of questions; raise `ConfigError` without one."""
    if "text" in found.of:
        return found
    raise ConfigError(
        f"{source} has no column of questions; its columns are {listed_names(names)}; name "
        f"it with columns: {{text: COLUMN}}"
    )


class _Tables:
    """The three tables of a data set during reading."""

    def __init__(self) -> None:
        self.passages, self.queries, self.qrels = passages(), queries(), qrels()
        self.query_ids = Ids()
        self._digests: dict[str, str] = {}

    def add(
        self,
        row: Row,
        of_system: Mapping[str, Any],
        number: int,
        history: Sequence[tuple[Role, str]] = (),
    ) -> None:
        """Add a row; of a query that several systems answered, the first row counts."""
        text = row.take_question("text")
        query_id = take_query_id(row, text, history)
        if query_id in self.query_ids and "system" in of_system:
            return
        self.query_ids.add(query_id, f"line {number}")
        gold = [answer for answer in take_texts(row, "gold_answers") or [] if answer.strip()]
        found = take_passages(row, "context")
        title = row.take_text("title", optional=True) if found else ""
        for passage_id in dict.fromkeys(self._add_passage(one, title) for one in found or []):
            self.qrels.add((query_id, passage_id, 1))
        labels = check_labels(row).take_labels()
        gold = list(dict.fromkeys(gold))
        self.queries.add((query_id, text, gold, messages_to_json(history), "", labels))

    def add_passage(self, row: Row) -> None:
        """Add a row that is a passage of no query."""
        for passage in take_passages(row, PASSAGE) or ():
            self._add_passage(passage, "")

    def _add_passage(self, passage: Passage, title: str) -> str:
        """Add a passage if it is new, and return its id: its own, or a digest of its text."""
        text = passage.text
        if not text.strip():
            raise FieldError("the context is empty; leave the cell out, or write its text")
        digest = short_digest(text)
        passage_id = passage.passage_id or f"p-{digest}"
        if passage_id not in self._digests:
            self._digests[passage_id] = digest
            self.passages.add((passage_id, text, title.replace("_", " "), title, ""))
        elif self._digests[passage_id] != digest:
            raise FieldError(f"two contexts have the id {show(passage_id)} and different texts")
        return passage_id

    def finish(self, name: str) -> Dataset:
        """Return the data set."""
        corpus = Corpus(self.passages.finish())
        return Dataset(name, self.queries.finish(), corpus, self.qrels.finish())


def _title(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return next((name[: -len(end)] for end in TABLE_ENDS if name.lower().endswith(end)), name)
