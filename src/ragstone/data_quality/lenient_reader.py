"""Reading a data set for the data doctor: an error in a row is recorded, and reading continues.

Ragstone's own layout and BEIR's are read line by line. Other layouts are read by their readers,
whose first error ends the reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from ragstone.core import limits
from ragstone.core.parsing import LimitError, parse_json
from ragstone.core.spec import parse_spec
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.load import SAMPLE, layout, load_dataset
from ragstone.data.readers.record_rows import query_row, turn_rows
from ragstone.data.readers.rows import (
    FieldError,
    find_file,
    lines,
    show,
    take_id,
    take_labels,
    take_text,
)
from ragstone.data.table_builder import passages, qrels, queries
from ragstone.data_quality.checked_dataset import Dangling, Fault, Subject
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.types import Label

_HEADS: Final = frozenset({"score", "relevance", "rel", "grade", "label"})
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
    try:
        return subject_of(load_dataset(source))
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
    passage_ids: set[str] = field(default_factory=set)
    query_ids: set[str] = field(default_factory=set)
    line: str = ""
    """The current line, for faults about it."""

    def fault(self, kind: str, path: Path, number: int, problem: str) -> None:
        self.faults.append(Fault(kind, f"{path.name}, line {number}", problem, self.line))

    def rows(self, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number and the object of each line that is a JSON object."""
        for number, line in lines(path):
            try:
                self.line = line.decode().strip()
            except UnicodeDecodeError:
                self.line = line.decode(errors="replace").strip()
                self.fault("not-utf-8", path, number, "bytes that are not UTF-8 were replaced")
            try:
                row = parse_json(self.line.encode())
            except (LimitError, orjson.JSONDecodeError) as error:
                cause = getattr(error, "msg", error)
                problem = f"not valid JSON ({cause}): {show(self.line)}"
                self.fault("malformed", path, number, problem)
                continue
            if type(row) is dict:
                yield number, row
            else:
                self.fault("malformed", path, number, f"expected a JSON object, found {show(row)}")

    def is_new(self, row_id: str, seen: set[str], path: Path, number: int) -> bool:
        if row_id in seen:
            self.fault("repeated-id", path, number, f"the id {row_id!r} occurs in an earlier row")
            return False
        seen.add(row_id)
        return True

    def is_known(self, pair: tuple[str, str], place: str) -> bool:
        """Return whether query and passage of a judgement exist; record the judgement if not."""
        no_query = pair[0] not in self.query_ids
        no_passage = bool(self.passage_ids) and pair[1] not in self.passage_ids
        if no_query or no_passage:
            self.dangling.append(Dangling(place, *pair, no_query, no_passage, self.line))
        return not (no_query or no_passage)


def _read_folder(folder: Path) -> Subject:
    reading = _Reading()
    corpus_file = find_file(folder, "corpus.jsonl")
    corpus = Corpus(_corpus(corpus_file, reading) if corpus_file else passages().finish())
    query_table = _queries(folder, reading)
    if not query_table.num_rows:
        faults = reading.faults[: limits.MAX_SHOWN_FAULTS]
        problems = "; ".join(f"{f.place}: {f.problem}" for f in faults) or "no file of queries"
        raise DatasetError(f"{folder} contains no query that can be read: {problems}")
    judged, splits = _qrels(folder, reading)
    subject = subject_of(Dataset(folder.resolve().name, query_table, corpus, judged))
    named = splits if len(splits) > 1 else subject.splits
    return replace(
        subject, faults=tuple(reading.faults), dangling=tuple(reading.dangling), splits=named
    )


def _qrels(folder: Path, reading: _Reading) -> tuple[Table, dict[str, frozenset[str]]]:
    """Return the judgements of all files, each pair once, and the query ids of each file."""
    builder, grades = qrels(), dict[tuple[str, str], int]()
    splits = {}
    for path in _qrels_files(folder):
        found = dict(_judgements(path, reading))
        splits[path.name.partition(".")[0]] = frozenset(query_id for query_id, _ in found)
        grades = {**found, **grades}
    for (query_id, passage_id), grade in grades.items():
        builder.add((query_id, passage_id, grade))
    return builder.finish(), splits


def _corpus(path: Path, reading: _Reading) -> Table:
    builder = passages()
    for number, row in reading.rows(path):
        try:
            passage_id = take_id(row)
            text, title = take_text(row, "text"), take_text(row, "title", optional=True)
            document_id = take_text(row, "document", optional=True)
        except FieldError as error:
            reading.fault("malformed", path, number, str(error))
            continue
        if reading.is_new(passage_id, reading.passage_ids, path, number):
            builder.add((passage_id, text, title, document_id, take_labels(row)))
    return builder.finish()


def _queries(folder: Path, reading: _Reading) -> Table:
    builder = queries()
    for name in ("queries.jsonl", "conversations.jsonl"):
        path = find_file(folder, name)
        if path is None:
            continue
        for number, row in reading.rows(path):
            try:
                made = [query_row(row)] if name == "queries.jsonl" else list(turn_rows(row))
            except FieldError as error:
                reading.fault("malformed", path, number, str(error))
                continue
            for values in made:
                if reading.is_new(values[0], reading.query_ids, path, number):
                    builder.add(values)
    return builder.finish()


def _qrels_files(folder: Path) -> list[Path]:
    plain = find_file(folder, "qrels.tsv")
    inner = sorted((folder / "qrels").glob("*.tsv*"))
    return [*([plain] if plain else []), *inner]


def _judgements(path: Path, reading: _Reading) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the judgements of known queries and passages, each pair once."""
    seen: dict[tuple[str, str], int] = {}
    for place, (number, line) in enumerate(lines(path)):
        text = reading.line = line.decode(errors="replace").rstrip("\r\n")
        cells = [cell.strip() for cell in (text.split("\t") if "\t" in text else text.split())]
        if place == 0 and cells and cells[-1].lower() in _HEADS:
            continue
        try:
            query_id, passage_id, grade = _judgement(cells)
        except ValueError:
            reading.fault("malformed", path, number, f"not a judgement: {show(text)}")
            continue
        pair = (query_id, passage_id)
        if pair in seen:
            kind = "repeated-judgement" if seen[pair] == grade else "conflicting-grades"
            problem = f"{query_id!r} and {passage_id!r} are judged twice: {seen[pair]} and {grade}"
            reading.fault(kind, path, number, problem)
            continue
        seen[pair] = grade
        if reading.is_known(pair, f"{path.name}, line {number}"):
            yield pair, grade


def _judgement(cells: list[str]) -> tuple[str, str, int]:
    """Return query id, passage id and grade; raise `ValueError` if one is missing."""
    if len(cells) not in (3, 4) or not (cells[0] and cells[-2]):
        raise ValueError
    return cells[0], cells[-2], int(cells[-1])
