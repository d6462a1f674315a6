"""The forms of an export: ratings, InspectorRAGet's JSON, qrels, a data set, and mtRAG's form."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation.conversation_export import write_conversation_dataset, write_mtrag
from ragstone.annotation.disagreements import FinalLabel, final_labels
from ragstone.annotation.rating_export import ExportChoice, export_lines, rating_rows
from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.inspector_raget import Inspection, write_inspection
from ragstone.data.table_builder import judgements
from ragstone.data.writers.folder import judgement_lines, write_dataset, write_lines
from ragstone.data.writers.mtrag import task_row
from ragstone.errors import ConfigError, did_you_mean
from ragstone.types import Label, Query

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.project import Project

_GRADES: Final = {"no": 0, "partly": 1, "yes": 2}
"""Grades of labels that are words."""
_TEXTS: Final = ("query", "answer")
"""The questions of a validation whose labels replace texts."""


@dataclass(frozen=True)
class Export:
    """An export that is to be written."""

    project: Project
    database: Database
    target: Path
    choice: ExportChoice = field(default_factory=ExportChoice)
    dataset: Dataset | None = None
    """The data set that the items are from, if it can be read."""
    every: bool = False
    """Whether conversations that no reviewer accepted are written as well."""

    @cached_property
    def final(self) -> dict[tuple[str, str, str], FinalLabel]:
        """(item id, question, part) -> the label that counts, of places that have one."""
        found = final_labels(self.project, self.database)
        return {place: one for place, one in found.items() if one.value is not None}

    def labels_of(self, item: AnnotationItem) -> dict[str, Any]:
        """Return question -> label that counts, of the questions about the whole item."""
        names = [one.name for one in self.project.scheme.questions]
        places = {name: self.final.get((item.item_id, name, "")) for name in names}
        return {name: one.value for name, one in places.items() if one is not None}


def write_export(export: Export, form: str) -> list[Path]:
    """Write the labels of a project in a form and return the files.

    Raises:
        ConfigError: the form is unknown, does not suit the project, or there is nothing to write.
        DatasetError: a file exists already.
    """
    if form not in WRITERS:
        problem = f"there is no form {form!r}{did_you_mean(form, WRITERS)}"
        raise ConfigError(problem, key="as", value=form)
    return WRITERS[form](export)


def digest_of(files: list[Path]) -> str:
    """Return a digest of files: the SHA-256 of a single one, else of all names and digests."""
    contents = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}
    if len(contents) == 1:
        return f"sha256:{next(iter(contents.values()))}"
    lines = "".join(f"{name}\0{content}\0" for name, content in contents.items())
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def _nothing(export: Export, what: str = "labels") -> ConfigError:
    return ConfigError(
        f"the project {export.project.folder} has no {what} yet; label some items first: "
        f"ragstone annotate {export.project.folder}",
        path=export.project.folder,
    )


def _ratings(export: Export) -> list[Path]:
    lines = list(export_lines(export.project, export.database, export.choice))
    if not lines:
        raise _nothing(export)
    return write_lines({export.target: lines})


# InspectorRAGet


def _inspector(export: Export) -> list[Path]:
    """Write the ratings of answers as one file; pairs, passages and parts have no place in it."""
    rows = [
        row
        for row in rating_rows(export.project, export.database, export.choice)
        if row.get("system") and not row.keys() & {"against", "passage_id", "part"}
    ]
    if not rows:
        raise _nothing(export, "ratings of answers")
    items = list(export.project.items.values())
    models = dict.fromkeys(a.part for one in items for a in one.answers)
    passages = {p.passage_id: p for one in items for p in one.passages}
    queries = {one.query.query_id: one for one in items}
    document = {
        "name": export.project.name,
        "filters": [],
        "models": [{"model_id": one, "name": one, "owner": "ragstone"} for one in models],
        "metrics": list(_metrics(export.project)),
        "documents": [{"document_id": i, "text": one.text} for i, one in passages.items()],
        "tasks": [_task(one) for one in queries.values()],
        "evaluations": list(_evaluations(items, rows)),
    }
    return [write_inspection(Inspection(document), export.target)]


def _metrics(project: Project) -> Iterator[dict[str, Any]]:
    for one in project.scheme.questions:
        if one.kind != "choice":
            continue
        values = [o.value for o in one.options]
        kind = "numerical" if one.numeric else "categorical"
        scale = {"range": [min(values), max(values), 1]} if one.numeric else {}
        yield {
            "name": one.name,
            "display_name": one.name,
            "description": one.text,
            "author": "human",
            "type": kind,
            "aggregator": "average" if scale else "majority",
            "values": [
                {"value": o.value, "display_value": o.shown}
                | ({"numeric_value": o.value} if scale else {})
                for o in one.options
            ],
            **scale,
        }


def _task(item: AnnotationItem) -> dict[str, Any]:
    targets = [{"speaker": "agent", "text": text} for text in item.query.gold_answers]
    return {**task_row(item.query), "contexts": [], "targets": targets}


def _evaluations(
    items: list[AnnotationItem], rows: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    rated: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        place = (row["query_id"], row["system"], row.get("setting", ""))
        given = rated.setdefault(place, {}).setdefault(row["property"], {})
        given[row["rater"]] = {"value": row["value"]}
    done = set()
    for item in items:
        for answer in item.answers:
            place = (item.query.query_id, answer.system, answer.setting)
            if place in rated and place not in done:
                done.add(place)
                shown = answer.passage_ids or [one.passage_id for one in item.passages]
                yield {
                    "task_id": place[0],
                    "model_id": answer.part,
                    "setting": answer.setting,
                    "model_response": answer.text or "",
                    "contexts": [{"document_id": one} for one in shown],
                    "annotations": rated[place],
                }


# Judgements and data sets


def _qrels(export: Export) -> list[Path]:
    found = list(grades(export))
    if not found:
        raise _nothing(export, "labels of passages")
    return write_lines({export.target: judgement_lines(found)})


def grades(export: Export) -> Iterator[tuple[str, str, int]]:
    """Yield query id, passage id and grade of each passage whose label is resolved.

    A median between two grades is the lower one, and so is that of several items with the same
    query and passage; `yes`, `partly` and `no` are 2, 1 and 0.
    """
    scheme, found = export.project.scheme, dict[tuple[str, str], int]()
    for (item_id, name, part), final in export.final.items():
        item, question = export.project.items[item_id], scheme.question(name)
        if question is None or question.kind != "choice":
            continue
        per_item = question.of == "item" and scheme.each == "passage" and len(item.passages) == 1
        passage_id = part if question.of == "passage" else ""
        passage_id = item.passages[0].passage_id if per_item else passage_id
        value = _GRADES.get(final.value) if isinstance(final.value, str) else final.value
        if passage_id and value is not None:
            pair, grade = (item.query.query_id, passage_id), math.floor(value)
            found[pair] = min(grade, found.get(pair, grade))
    yield from ((query_id, passage_id, grade) for (query_id, passage_id), grade in found.items())


def _dataset(export: Export) -> list[Path]:
    if export.project.task == "conversation":
        write_conversation_dataset(
            export.project, export.database, export.target, every=export.every
        )
        return sorted(export.target.iterdir())
    if not export.final:
        raise _nothing(export)
    is_validation = export.project.task == "validation"
    dataset = _validated(export) if is_validation else _labelled(export)
    return write_dataset(dataset, export.target)


def _source(export: Export) -> Dataset:
    """Return the data set of the items, or one that has their queries and passages alone."""
    if export.dataset is not None:
        return export.dataset
    items = export.project.items.values()
    queries = {one.query.query_id: one.query for one in items}
    passages = {p.passage_id: p for one in items for p in one.passages}
    table, corpus = (
        queries_to_table(list(queries.values())),
        Corpus.from_passages(list(passages.values())),
    )
    return Dataset(export.project.name, table, corpus, judgements({}))


def _labelled(export: Export) -> Dataset:
    """Return the data set with the labels: of passages as judgements, of queries as labels."""
    source = _source(export)
    judged = {(q, p): grade for q, p, grade in grades(export)}
    merged = {(q, p): g for q, held in source.qrels.items() for p, g in held.items()} | judged
    named: dict[str, dict[str, Any]] = {}
    if not judged:
        for item in export.project.items.values():
            named.setdefault(item.query.query_id, {}).update(export.labels_of(item))
    queries = [_with_labels(one, named.get(one.query_id, {})) for one in source.queries]
    return _with_tables(source, queries, merged)


def _with_labels(query: Query, labels: Mapping[str, Any]) -> Query:
    """Return a query with further labels; several options of one question are a list of texts."""
    plain: dict[str, Label] = {
        name: tuple(map(str, value)) if isinstance(value, list) else value
        for name, value in labels.items()
    }
    return replace(query, labels={**query.labels, **plain})


def _validated(export: Export) -> Dataset:
    """Return the data set of the queries that people keep, with the texts as they repaired them."""
    source, kept = _source(export), dict[str, Query]()
    for item in export.project.items.values():
        labels = export.labels_of(item)
        if labels.get("verdict") == "keep":
            kept[item.query.query_id] = _repaired(item.query, labels)
    if not kept:
        raise _nothing(export, "queries with the verdict `keep`")
    known = {one.query_id: one for one in source.queries}
    queries = [_in_place(known.get(query_id, one), one) for query_id, one in kept.items()]
    judged = _judged(export, source)
    grades = {(q, p): g for q in kept for p, g in judged.get(q, {}).items()}
    return _with_tables(source, queries, grades)


def _in_place(query: Query, repaired: Query) -> Query:
    gold, labels = repaired.gold_answers, repaired.labels
    return replace(query, text=repaired.text, gold_answers=gold, labels=labels)


def _with_tables(
    source: Dataset, queries: list[Query], grades: Mapping[tuple[str, str], int]
) -> Dataset:
    table = queries_to_table(queries)
    return replace(source, query_table=table, qrel_table=judgements(grades))


def _judged(export: Export, source: Dataset) -> Mapping[str, Mapping[str, int]]:
    """Return the judgements of the source; without a source, the passages that were shown."""
    if export.dataset is not None:
        return source.qrels
    items = export.project.items.values()
    return {one.query.query_id: {p.passage_id: 1 for p in one.passages} for one in items}


def _repaired(query: Query, labels: Mapping[str, Any]) -> Query:
    text, answer = (str(labels.get(name) or "").strip() for name in _TEXTS)
    gold = (answer, *query.gold_answers[1:]) if answer else query.gold_answers
    rated = {name: value for name, value in labels.items() if name not in (*_TEXTS, "verdict")}
    return _with_labels(replace(query, text=text or query.text, gold_answers=gold), rated)


def _mtrag(export: Export) -> list[Path]:
    """Write reviewed conversations in mtRAG's form."""
    if export.project.task != "conversation":
        raise ConfigError(
            f"the form mtrag is for conversations, the project has the task {export.project.task}; "
            "choose ratings, inspector, qrels or dataset",
            key="as",
            value="mtrag",
        )
    names = export.choice.names
    write_mtrag(export.project, export.database, export.target, names=names, every=export.every)
    return [export.target]


WRITERS: Final[dict[str, Callable[[Export], list[Path]]]] = {
    "ratings": _ratings,
    "inspector": _inspector,
    "qrels": _qrels,
    "dataset": _dataset,
    "mtrag": _mtrag,
}
"""Form -> its writer."""
