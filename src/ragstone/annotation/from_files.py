"""Items from files: projects, tables of items, ratings to fill in, and findings about data sets.

A row with texts is an item; a row of the ratings form without texts names an answer or a passage,
whose texts an experiment or a data set has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from ragstone.annotation.from_data import gold_passages, nugget_item
from ragstone.annotation.items import AnnotationItem, item_of, read_items
from ragstone.annotation.project import FILE, ITEMS, Project
from ragstone.annotation.schemes import TaskName
from ragstone.data.dataset import Dataset
from ragstone.data.readers.nuggets import read_nuggets
from ragstone.data.readers.ratings import Inclusion, read_inclusion
from ragstone.data.readers.rows import FieldError, Row, json_document, reading
from ragstone.data.readers.table_files import read_table
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage, Query

Drawn: TypeAlias = Inclusion | None
_RATING: Final = ("property", "values", "value", "rater", "time", "shown")
"""Fields of the ratings form about a question or a person's answer to it."""
_PASSAGE: Final = ("text", "context", "passage")
"""Fields with the text of a passage."""


@dataclass
class ReadFile:
    """The content of a file: items, or names of answers and passages whose texts are elsewhere."""

    items: list[AnnotationItem] = field(default_factory=list)
    answers: dict[tuple[str, str, str], Drawn] = field(default_factory=dict)
    """(query id, system, setting) -> how the answer was drawn."""
    pairs: dict[str, dict[str, Drawn]] = field(default_factory=dict)
    """Query id -> passage id -> how the pair was drawn."""
    findings: list[Mapping[str, Any]] = field(default_factory=list)
    task: TaskName | None = None
    """The task that the file is for; None if it names none."""


def read_file(path: Path) -> ReadFile:
    """Return the content of a file or a project folder that is to be labelled.

    Raises `DatasetError` or `ConfigError` if it is none of the known forms, with file and line.
    """
    if path.is_dir():
        return _project(path)
    if path.name.endswith(".json") and (found := _findings(path)) is not None:
        return found
    return _table(path)


def _project(folder: Path) -> ReadFile:
    if not (folder / FILE).exists():
        raise ConfigError(
            f"{folder} has no {FILE}, so it is not an annotation project; a data set is given with "
            "--data",
            key="from",
            value=str(folder),
        )
    project = Project.open(folder)
    return ReadFile(items=list(read_items(folder / ITEMS)), task=project.task)


def _findings(path: Path) -> ReadFile | None:
    """Return the findings of `ragstone data check --json` that people have to decide."""
    document = json_document(path)
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        return None
    kept = [one for one in document["findings"] if one.get("remedy") == "person"]
    return ReadFile(findings=kept, task="labels")


def _table(path: Path) -> ReadFile:
    found = ReadFile()
    for number, row in read_table(path):
        if "nuggets" in row and "item_id" not in row:
            listed = read_nuggets(path).values()
            return ReadFile([nugget_item(one.query) for one in listed], task="nuggets")
        with reading(path, number):
            _add(found, row, number)
    if not (found.items or found.answers or found.pairs):
        raise DatasetError(f"{path} has no row to label", path=path)
    return found


def _add(found: ReadFile, row: Row, number: int) -> None:
    """Add the content of one row."""
    if "query" in row:
        item, task = _item(row, number)
        found.items.append(item)
        found.task = found.task or task
        return
    if "query_id" not in row:
        raise FieldError("a row needs 'query', the text of its query, or 'query_id'")
    drawn, query_id = read_inclusion(row), row.take_id("query_id")
    if row.get("passage_id"):
        found.pairs.setdefault(query_id, {})[row.take_id("passage_id")] = drawn
    elif row.get("system"):
        system, setting = row.take_text("system"), row.take_text("setting", optional=True)
        found.answers[query_id, system, setting] = drawn
    else:
        raise FieldError(
            "there is nothing to label: a row has 'query' with its texts, or 'query_id' with "
            "'passage_id' or 'system'"
        )


def _item(row: Row, number: int) -> tuple[AnnotationItem, TaskName | None]:
    """Return the item of a row with texts, and the task that its fields are for."""
    task: TaskName | None = "support" if row.get("property") == "support" else None
    for name in _RATING:
        row.pop(name, None)
    row.setdefault("query_id", row.get("item_id") or str(number))
    gold = row.get("answers")
    if isinstance(gold, str) or (gold and all(isinstance(one, str) for one in gold)):
        row["gold_answers"] = row.pop("answers")
    text = next((name for name in _PASSAGE if name in row), "")
    if text and "passages" not in row:
        _move_passage(row, text)
    row.setdefault("item_id", _own_id(row))
    return item_of(row), task


def _move_passage(row: Row, name: str) -> None:
    """Move the flat fields of a passage to the list of passages."""
    texts = row.take_texts(name) or []
    first, title = row.pop("passage_id", None) or "passage", row.take_text("title", optional=True)
    ids = [str(first), *(f"{first} {n}" for n in range(2, len(texts) + 1))]
    rows = zip(ids, texts, strict=False)
    row["passages"] = [{"passage_id": i, "text": text, "title": title} for i, text in rows]


def _own_id(row: Row) -> str:
    passages = row.get("passages") or ()
    ids = [str(one["passage_id"]) for one in passages if one["passage_id"] != "passage"]
    parts = [row["query_id"], *ids[:1], row.get("system"), row.get("setting")]
    return " ".join(str(one) for one in parts if one)


def finding_items(dataset: Dataset, findings: list[Mapping[str, Any]]) -> Iterator[AnnotationItem]:
    """Yield an item per row or pair of rows that a finding names, with the texts of a data set."""
    queries = {query.query_id: query for query in dataset.queries}
    for finding in findings:
        pairs = [tuple(map(str, pair)) for pair in finding.get("pairs") or ()]
        rows = pairs or [(str(one),) for one in finding.get("rows") or ()]
        for ids in rows:
            item = _found_item(dataset, queries, finding, ids)
            if item is not None:
                yield item


def _found_item(
    dataset: Dataset, queries: Mapping[str, Query], finding: Mapping[str, Any], ids: tuple[str, ...]
) -> AnnotationItem | None:
    """Return the item of some rows; None if they are lines or files, which have no text."""
    check, what = str(finding.get("check", "")), str(finding.get("what", ""))
    query = next((queries[one] for one in ids if one in queries), None)
    others = [queries[one] for one in ids if one in queries and query and one != query.query_id]
    named = [dataset.corpus[one] for one in ids if one in dataset.corpus]
    named += [Passage(one.query_id, one.text) for one in others]
    if query is None and not named:
        return None
    item_id = " ".join((check, *ids))
    said = {"finding": f"{check}: {what}", "advice": str(finding.get("advice", ""))}
    if query is None:
        return AnnotationItem(item_id, Query(ids[0], what or check, labels=said), tuple(named))
    shown = tuple(named) or gold_passages(dataset, query.query_id)
    return AnnotationItem(item_id, replace(query, labels=said), shown)
