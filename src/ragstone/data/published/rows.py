"""Rows of published files as queries, passages and judgements."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ragstone.core.fingerprint import short_digest
from ragstone.data.published.derived import derived
from ragstone.data.published.places import is_kept, text, texts, values
from ragstone.data.published.presets import TableForm
from ragstone.data.readers.parquet_columns import check_labels
from ragstone.data.readers.rows import (
    FieldError,
    Row,
    decoded,
    has_end,
    json_document,
    parsed,
    reading,
    show,
)
from ragstone.data.readers.table_files import read_table

_LOG: Final = logging.getLogger(__name__)


@dataclass
class PublishedQuery:
    """A query during reading."""

    place: str
    """File and row, for errors."""
    text: str = ""
    answers: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    """Ids of the relevant documents."""
    contexts: list[PublishedPassage] = field(default_factory=list)
    """Passages that are published in the row of the query."""
    history: list[Any] = field(default_factory=list)
    labels: dict[str, Any] = field(default_factory=dict)

    def merge(self, other: PublishedQuery) -> None:
        """Add the answers, documents and passages of another row; its text counts if none is."""
        self.text = self.text or other.text
        self.answers += other.answers
        self.documents += other.documents
        self.contexts += other.contexts
        self.history = self.history or other.history
        self.labels = {**other.labels, **self.labels}

    def record(self, query_id: str) -> dict[str, Any]:
        """Return the query as a record."""
        answers = list(dict.fromkeys(answer for answer in self.answers if answer.strip()))
        fields = {"_id": query_id, "text": self.text, "answers": answers, "metadata": self.labels}
        return {**fields, "history": self.history} if self.history else fields


@dataclass(frozen=True)
class PublishedPassage:
    """A passage that is published beside its query."""

    text: str
    title: str = ""
    passage_id: str = ""
    document_id: str = ""
    grade: int | None = 1
    """None if the passage is not judged."""

    @property
    def id(self) -> str:
        """Its own id, or a digest of its text."""
        return self.passage_id or f"p-{short_digest(self.text)}"


def form_rows(form: TableForm, paths: Sequence[Path]) -> Iterator[tuple[Path, int, Row]]:
    """Yield file, number and fields of the rows that a form keeps; `@row` counts all from 0."""
    count = 0
    for path in paths:
        for number, row in _rows(form, path):
            row["@row"] = count
            count += 1
            with reading(path, number):
                row.update(derived(form.derive, row))
                kept = is_kept(row, form.keep)
            if kept:
                yield path, number, row


def _rows(form: TableForm, path: Path) -> Iterator[tuple[int, Row]]:
    if form.rows and has_end(path, ".json"):
        found: Iterator[tuple[int, Row]] = enumerate(_in_document(path, form.rows), start=1)
    elif form.header and has_end(path, ".tsv", ".txt", ".csv"):
        found = parsed(path, lambda line: _cells(line, form.header))
    else:
        found = read_table(path)
    if not form.each:
        return found
    return _items(found, form.each, path)


def _items(rows: Iterable[tuple[int, Row]], place: str, path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the items of a list in each row as rows; `up` is the row around them."""
    for number, row in rows:
        with reading(path, number):
            items = [Row({**Row.of(item), "up": row}) for item in values(row, place)]
        for item in items:
            yield number, item


def _in_document(path: Path, place: str) -> list[Row]:
    """Return the objects at a place in a JSON document; `.` is the document itself."""
    document = json_document(path)
    rows: list[Row] = []
    found = [document] if place == "." else values({"@document": document}, f"@document.{place}")
    for value in found:
        items = value if isinstance(value, list) else [value]
        if isinstance(value, Mapping) and all(isinstance(one, Mapping) for one in value.values()):
            items = [{**one, "@key": key} for key, one in value.items()]
        with reading(path, f"the rows at {place!r}"):
            rows.extend(map(Row.of, items))
    return rows


def _cells(line: bytes, header: Sequence[str]) -> Row:
    """Return the cells of a line between tabs; a quote has no meaning in such a file."""
    cells = decoded(line).split("\t")
    if len(cells) != len(header):
        raise FieldError(
            f"expected {len(header)} columns with tabs between ({', '.join(header)}), found "
            f"{len(cells)}: {show(decoded(line))}"
        )
    return Row(zip(header, cells, strict=True))


def read_entries(form: TableForm, paths: Sequence[Path]) -> dict[str, PublishedQuery]:
    """Return query id -> query of a table; raise `DatasetError` with file and row."""
    found: dict[str, PublishedQuery] = {}
    too_long = 0
    for path, number, row in form_rows(form, paths):
        with reading(path, number):
            query_id, entry = _entry(form, row, f"{path.name}, row {number}")
            if any(0 < form.max_context < len(one.text) for one in entry.contexts):
                too_long += 1
                continue
            if query_id not in found:
                found[query_id] = entry
            elif form.group:
                found[query_id].merge(entry)
            else:
                raise FieldError(
                    f"the query id {query_id!r} occurs in {found[query_id].place} already"
                )
    if too_long:
        _LOG.warning(
            "%s: %s queries are left out, because their context has more than %s characters",
            ", ".join(path.name for path in paths),
            f"{too_long:,}",
            f"{form.max_context:,}",
        )
    return found


def _entry(form: TableForm, row: Row, place: str) -> tuple[str, PublishedQuery]:
    at = form.columns
    query_id = text(row, at.get("query_id", "@row"))
    if not query_id:
        raise FieldError(f"the field {at['query_id']!r} is missing; it is the id of the query")
    return query_id, PublishedQuery(
        place,
        text(row, at["text"]) if "text" in at else "",
        texts(row, at.get("gold_answers", ())),
        texts(row, at.get("documents", ())),
        list(_contexts(row, form)),
        values(row, at.get("history", ())),
        dict(_labels(row, form.labels)),
    )


def _labels(row: Row, labels: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, place in labels.items():
        found = values(row, place)
        if found:
            yield name, found[0] if len(found) == 1 and "[" not in place else found


def _contexts(row: Row, form: TableForm) -> Iterator[PublishedPassage]:
    """Yield the passages of a row; fields beside `context` have as many values as it, or one."""
    at = form.columns
    if "context" not in at:
        return
    # Fields beside several contexts have a place for each; fields beside a joined one are its own.
    several = not form.join_context
    given = values(row, at["context"], nulls=several)
    if given and not several:
        given = [form.join_context.join(texts(row, at["context"]))]
    beside = {
        name: _as_many(values(row, at[f"context_{name}"], nulls=several), len(given), at)
        for name in ("title", "id", "document", "grade")
        if f"context_{name}" in at
    }
    for number, one in enumerate(given):
        if one is None or not str(one).strip():
            continue
        found = {name: column[number] for name, column in beside.items()}
        grade = None if form.unjudged else found.pop("grade", 1)
        names = {name: str(value or "") for name, value in found.items()}
        yield PublishedPassage(
            str(one),
            names.get("title", ""),
            names.get("id", ""),
            names.get("document", ""),
            None if grade is None else int(grade),
        )


def _as_many(found: list[Any], count: int, columns: Mapping[str, Any]) -> list[Any]:
    if len(found) == count:
        return found
    if len(found) == 1:
        return found * count
    raise FieldError(
        f"{columns['context']!r} has {count} values, and a field beside it {len(found)}"
    )


def read_passages(form: TableForm, paths: Sequence[Path]) -> Iterator[tuple[Path, int, Row]]:
    """Yield file, number and record of each passage of a corpus with other names of fields."""
    for path, number, row in form_rows(form, paths):
        with reading(path, number):
            record = Row(
                _id=text(row, form.columns["passage_id"]),
                text=text(row, form.columns["text"]),
                title=text(row, form.columns.get("title", ())),
                document=text(row, form.columns.get("document_id", ())),
                metadata=check_labels(dict(_labels(row, form.labels))),
            )
        yield path, number, record


def joined(
    entries: dict[str, PublishedQuery], form: TableForm, rows: Iterable[Row]
) -> dict[str, PublishedQuery]:
    """Return the queries that a joined table has too, with its fields added.

    The queries' own id and text stay; of a field that both tables have, the values are added.
    """
    by_text = form.by == "text"
    keys: dict[str, list[str]] = {}
    for query_id, entry in entries.items():
        keys.setdefault(_plain(entry.text) if by_text else query_id, []).append(query_id)
    found = set()
    for row in rows:
        other_id, other = _entry(form, row, "")
        for query_id in keys.get(_plain(other.text) if by_text else other_id, ()):
            entries[query_id].merge(other)
            found.add(query_id)
    return {query_id: entry for query_id, entry in entries.items() if query_id in found}


def _plain(question: str) -> str:
    """Return a question without case, white space at its ends and question mark."""
    return " ".join(question.lower().split()).rstrip(" ?")
