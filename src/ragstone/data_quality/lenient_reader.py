"""Reading a data set for the data doctor: an error in a row is recorded, and reading continues.

Ragstone's own layout and BEIR's are read line by line. Other layouts are read by their readers,
whose first error ends the reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ragstone.core import limits
from ragstone.core.spec import parse_spec
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.load import SAMPLE, layout, load_dataset
from ragstone.data.readers.folder import CORPUS_FILES, QREL_FILES, QUERY_FILES, unread_files
from ragstone.data.readers.qrels import JudgementParser, Known
from ragstone.data.readers.record_rows import RowsOf, passage_rows, query_rows, turn_rows
from ragstone.data.readers.rows import FieldError, find_file, lines, table_row
from ragstone.data.table_builder import TableBuilder, judgements, passages, queries
from ragstone.data_quality.answer_texts import has_answers
from ragstone.data_quality.checked_dataset import Dangling, Fault, Subject
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.types import Label

T = TypeVar("T")

_SPLIT_LABEL: Final = "split"


def read_leniently(source: str | Path, against: str | Path | None = None) -> Subject:
    """Return the readable part of a data set, and the faults of the rest.

    Args:
        source: `sample`, a path, or a reader with its parameters, as for `load_dataset`.
        against: another data set, such as the training split, that should share no query with it.

    Raises:
        DatasetError: the path does not exist, or no query could be read.
    """
    path = SAMPLE if source == "sample" else Path(source)
    if path.is_dir() and layout(path) == "ragstone":
        subject = _read_folder(path)
    else:
        subject = _read_whole(source)
    if against is not None:
        other = read_leniently(against)
        subject = replace(subject, others=tuple(other.queries))
    return subject


def subject_of(dataset: Dataset) -> Subject:
    """Return the doctor's input for a data set, with the splits in its labels."""
    return Subject(dataset, splits=_labelled_splits(dataset))


def _read_whole(source: str | Path) -> Subject:
    path = Path(source)
    try:
        subject = subject_of(load_dataset(source))
        return replace(subject, answers=path) if has_answers(path) else subject
    except DatasetError as error:
        if "dangling_qrels" not in str(error):
            raise
        named = load_dataset({**_parameters(source), "dangling_qrels": "drop"})
        subject = subject_of(named)
        problem = str(error).partition(". Add the missing")[0]
        return replace(subject, faults=(Fault("dangling", str(source), problem),))


def _parameters(source: str | Path) -> dict[str, Any]:
    """Return a source as a mapping of parameters."""
    if Path(source).exists():
        return {"path": str(source)}
    spec = parse_spec(str(source), where="data")
    return {"name": spec.name, **spec.parameters}


def _labelled_splits(dataset: Dataset) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for query in dataset.queries:
        label: Label | None = query.labels.get(_SPLIT_LABEL)
        if isinstance(label, str):
            found.setdefault(label, set()).add(query.query_id)
    return {name: frozenset(ids) for name, ids in found.items()} if len(found) > 1 else {}


@dataclass
class _Reading:
    """State during the reading of a folder."""

    faults: list[Fault] = field(default_factory=list)
    dangling: list[Dangling] = field(default_factory=list)
    line: str = ""
    """The current line, for faults about it."""

    def fault(self, kind: str, path: Path, number: int, problem: str) -> None:
        self.faults.append(Fault(kind, f"{path.name}, line {number}", problem, self.line))

    def parsed(self, path: Path, parse: Callable[[bytes], T]) -> Iterator[tuple[int, T]]:
        """Yield line number and `parse(line)` of each line without a `FieldError`."""
        for number, line in lines(path):
            self.line = line.decode(errors="replace").strip("\r\n")
            text = self.line.encode()
            if text != line.strip(b"\r\n"):
                self.fault("not-utf-8", path, number, "bytes that are not UTF-8 were replaced")
            try:
                found = parse(text)
            except FieldError as error:
                self.fault("malformed", path, number, str(error))
            else:
                yield number, found

    def add_rows(self, builder: TableBuilder, ids: set[str], path: Path, rows_of: RowsOf) -> None:
        """Add the rows of a file to a table, and their ids to `ids`."""
        row_of = table_row(path)

        def parse(line: bytes) -> list[tuple[Any, ...]]:
            return list(rows_of(row_of(line)))

        for number, made in self.parsed(path, parse):
            for row in made:
                if row[0] in ids:
                    problem = f"the id {row[0]!r} occurs in an earlier row"
                    self.fault("repeated-id", path, number, problem)
                else:
                    ids.add(row[0])
                    builder.add(row)

    def judgements(self, path: Path, known: Known) -> Iterator[tuple[tuple[str, str], int]]:
        """Yield the judgements of known queries and passages, each pair once."""
        seen: dict[tuple[str, str], int] = {}
        for number, found in self.parsed(path, JudgementParser()):
            if found is None:
                continue
            pair, grade = found[:2], found[2]
            if pair in seen:
                kind = "repeated-judgement" if seen[pair] == grade else "conflicting-grades"
                problem = f"{pair[0]!r} and {pair[1]!r} are judged twice: {seen[pair]} and {grade}"
                self.fault(kind, path, number, problem)
                continue
            seen[pair] = grade
            unknown = known.unknown(*pair)
            if any(unknown):
                place = f"{path.name}, line {number}"
                self.dangling.append(Dangling(place, *pair, *unknown, self.line))
            else:
                yield pair, grade


def _read_folder(folder: Path) -> Subject:
    reading, query_ids, passage_ids = _Reading(), set[str](), set[str]()
    passage_table, query_table = passages(), queries()
    for builder, ids, names, rows_of in (
        (passage_table, passage_ids, CORPUS_FILES, passage_rows),
        (query_table, query_ids, QUERY_FILES, query_rows),
        (query_table, query_ids, ("conversations.jsonl",), turn_rows),
    ):
        if path := find_file(folder, *names):
            reading.add_rows(builder, ids, path, rows_of)
    if not query_ids:
        faults = reading.faults[: limits.MAX_SHOWN_FAULTS]
        problems = "; ".join(f"{f.place}: {f.problem}" for f in faults) or "no file of queries"
        raise DatasetError(f"{folder} contains no query that can be read: {problems}")
    judged, splits = _qrels(folder, reading, Known(query_ids, passage_ids or None))
    corpus = Corpus(passage_table.finish())
    subject = subject_of(Dataset(folder.resolve().name, query_table.finish(), corpus, judged))
    named = splits if len(splits) > 1 else subject.splits
    return replace(
        subject,
        faults=tuple(reading.faults),
        dangling=tuple(reading.dangling),
        splits=named,
        unread=tuple(unread_files(folder)),
    )


def _qrels(
    folder: Path, reading: _Reading, known: Known
) -> tuple[Table, dict[str, frozenset[str]]]:
    """Return the judgements of all files, each pair once, and the query ids of each file."""
    grades, splits = dict[tuple[str, str], int](), {}
    plain = find_file(folder, *QREL_FILES)
    for path in [*([plain] if plain else []), *sorted((folder / "qrels").glob("*.tsv*"))]:
        found = dict(reading.judgements(path, known))
        splits[path.name.partition(".")[0]] = frozenset(query_id for query_id, _ in found)
        grades = {**found, **grades}
    return judgements(grades), splits
