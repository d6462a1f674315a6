"""A cleaned copy of a data set, and a log of every change; the original stays as it is.

Rows that a reader rejects, empty rows, placeholders, junk and copies are removed; damaged texts are
repaired, and personal data are masked (`TEXT_FAULTS`). Other faults are left for people to decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from ragstone.core.schemas import queries_to_table, rows
from ragstone.data.collections import with_collection_labels
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.table_builder import judgements
from ragstone.data.writers.folder import write_dataset, write_lines
from ragstone.data_quality.answer_texts import answer_rows
from ragstone.data_quality.duplicates import expects, groups, squeezed, text_with_history
from ragstone.data_quality.personal_data import all_masked
from ragstone.data_quality.text_faults import dropped, mended
from ragstone.errors import DatasetError
from ragstone.types import Message, Passage, Query

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.data_quality.checked_dataset import Subject

LOG: Final = "changes.jsonl"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs between the original and the cleaned copy."""

    action: str
    """`drop`, `merge` or `repair`."""
    kind: str
    """`row`, `judgement`, `passage`, `query` or `answer`."""
    row_id: str
    why: str
    before: str = ""
    """The original: the whole line of a row or judgement, else the text."""
    after: str = ""


@dataclass
class _Cleaning:
    changes: list[Change] = field(default_factory=list)

    def note(self, action: str, kind: str, row_id: str, why: str, *texts: str) -> None:
        self.changes.append(Change(action, kind, row_id, why, *texts))

    def text(self, kind: str, row_id: str, text: str) -> str:
        """Return a text without the faults that have one right repair, and log the change."""
        after, faults = mended(text)
        if after != text:
            self.note("repair", kind, row_id, ", ".join(faults), text, after)
        return after


def fix(subject: Subject, target: Path, source: str | Path = "") -> Counter[str]:
    """Write a cleaned copy and `changes.jsonl` into a folder; return the number of each change.

    Raises:
        DatasetError: the folder contains the data set itself, or another one.
    """
    here = Path(source).resolve()
    if source and here.exists() and target.resolve() == (here.parent if here.is_file() else here):
        raise DatasetError(
            f"the cleaned copy cannot be written into {target}, the folder of the data set; "
            f"choose another folder"
        )
    log = target / LOG
    if log.exists():
        raise DatasetError(f"{log} already exists; choose another folder, or remove it")
    dataset, changes = cleaned(subject)
    write_dataset(dataset, target)
    write_lines({log: (orjson.dumps(asdict(c)) + b"\n" for c in changes)})
    if subject.answers:
        rows = (orjson.dumps(all_masked(row)) + b"\n" for row in answer_rows(subject.answers))
        write_lines({target / subject.answers.name.removesuffix(".gz"): rows})
    return Counter(f"{change.action} {change.kind}" for change in changes)


def cleaned(subject: Subject) -> tuple[Dataset, list[Change]]:
    """Return the cleaned data set and the changes."""
    subject = replace(subject, dataset=with_collection_labels(subject.dataset))
    cleaning = _Cleaning()
    for fault in subject.faults:
        if fault.kind != "not-utf-8":
            cleaning.note("drop", "row", fault.place, f"{fault.kind}: {fault.problem}", fault.line)
    for lost in subject.dangling:
        noun = "query" if lost.no_query else "passage"
        pair = f"{lost.query_id} {lost.passage_id}"
        cleaning.note("drop", "judgement", pair, f"no such {noun} ({lost.place})", lost.line)
    passages, moved = _passages(subject, cleaning)
    queries = _queries(subject, cleaning)
    judged = _judgements(subject, moved, {q.query_id for q in queries}, cleaning)
    dataset = subject.dataset
    made = Dataset(dataset.name, queries_to_table(queries), Corpus.from_passages(passages), judged)
    return made, cleaning.changes


def _passages(subject: Subject, cleaning: _Cleaning) -> tuple[list[Passage], dict[str, str]]:
    """Return the kept passages, and id -> new id of the others; "" if there is none."""
    part = dict.fromkeys(subject.passage_ids, "")
    for name, positions in subject.dataset.corpus.collections.items():
        part |= {subject.passage_ids[position]: name for position in positions}
    plain = ((i, squeezed(text)) for i, text in subject.texts())
    texts = {i: text and f"{part[i]} {text}" for i, text in plain}
    copies = {copy: ids[0] for ids in groups(texts) for copy in ids[1:]}
    kept, moved = [], dict(copies)
    for passage in subject.dataset.corpus:
        passage_id = passage.passage_id
        if not passage.text.strip():
            moved[passage_id] = ""
            cleaning.note("drop", "passage", passage_id, "empty text", passage.text)
        elif passage_id in copies:
            why = f"copy of {copies[passage_id]}"
            cleaning.note("merge", "passage", passage_id, why, passage.text)
        elif fault := dropped("passage", passage.text):
            moved[passage_id] = ""
            cleaning.note("drop", "passage", passage_id, fault, passage.text)
        else:
            text = cleaning.text("passage", passage_id, passage.text)
            title = cleaning.text("passage", passage_id, passage.title)
            kept.append(replace(passage, text=text, title=title))
    return kept, moved


def _queries(subject: Subject, cleaning: _Cleaning) -> list[Query]:
    kept: list[Query] = []
    seen: dict[tuple[object, ...], str] = {}
    for query in subject.queries:
        identity = (text_with_history(query), *expects(subject, query))
        if identity in seen:
            why = f"copy of {seen[identity]}"
            cleaning.note("drop", "query", query.query_id, why, query.text)
            continue
        seen[identity] = query.query_id
        alone = not (query.history or query.rewrite)
        if alone and (fault := dropped("stand-alone query", query.text)):
            cleaning.note("drop", "query", query.query_id, fault, query.text)
            continue
        text, rewrite, *history = (
            cleaning.text("query", query.query_id, text)
            for text in (query.text, query.rewrite, *(message.text for message in query.history))
        )
        messages = tuple(map(_reworded, query.history, history))
        answers = _answers(query, cleaning)
        kept.append(
            replace(query, text=text, rewrite=rewrite, history=messages, gold_answers=answers)
        )
    return kept


def _reworded(message: Message, text: str) -> Message:
    return replace(message, text=text)


def _answers(query: Query, cleaning: _Cleaning) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for answer in query.gold_answers:
        if not answer.strip():
            cleaning.note("drop", "answer", query.query_id, "empty", answer)
        elif answer in found:
            cleaning.note("drop", "answer", query.query_id, "repeated", answer)
        else:
            found[cleaning.text("answer", query.query_id, answer)] = None
    return tuple(found)


def _judgements(
    subject: Subject, moved: Mapping[str, str], query_ids: set[str], cleaning: _Cleaning
) -> Table:
    grades: dict[tuple[str, str], int] = {}
    for row in rows(subject.dataset.qrel_table):
        query_id, passage_id = row["query_id"], row["passage_id"]
        new = moved.get(passage_id, passage_id)
        if not new or query_id not in query_ids:
            why = "its passage was dropped" if not new else "its query was dropped"
            line = f"{query_id}\t{passage_id}\t{row['relevance']}"
            cleaning.note("drop", "judgement", f"{query_id} {passage_id}", why, line)
            continue
        if new != passage_id:
            cleaning.note("repair", "judgement", query_id, "merged passage", passage_id, new)
        grades[query_id, new] = max(row["relevance"], grades.get((query_id, new), 0))
    return judgements(grades)
