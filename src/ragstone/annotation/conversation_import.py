"""Existing conversations as items and events, so that people can review them.

The person `import` wrote them: the queries, the texts after editing, the labels and the marks of
the author. A second voter of a file in mtRAG's form is `import 2`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.annotation.conversation import AGENT, NO_TURN_LABELS
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event, EventKind
from ragstone.annotation.items import AnnotationItem
from ragstone.core.schemas import labels_to_json
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.mtrag import conversation_id, conversation_ids
from ragstone.data.readers.mtrag_files import document_rows, sources
from ragstone.data.readers.mtrag_turns import SEPARATOR, conversation_turns, passage_of
from ragstone.data.readers.rows import FieldError, Row, reading
from ragstone.errors import DatasetError
from ragstone.types import Passage, Query
from ragstone.web import limits

IMPORT: Final = "import"
"""The writer of an imported conversation."""
OF_CONVERSATION: Final = ("domain", "collection")
"""Labels of an item that all its turns have."""
NOT_LABELS: Final = frozenset({"conversation", "turn", "original_response", "gold_passages"})
"""Labels of a query that follow from the conversation."""
OF_TURN: Final = ("answers", "rewrite", "query_id")
"""Further fields of a turn of a data set, kept as labels of the turn."""
_NOT_KEPT: Final = (*NOT_LABELS, *OF_CONVERSATION, *OF_TURN, *NO_TURN_LABELS)
"""Names of labels that mean something else here."""
_ENDS: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_AGENT_QUERY: Final = "|user|"
"""How mtRAG's agent begins a search; a search by a person is free text."""


@dataclass(frozen=True, slots=True)
class ConversationItems:
    """The items and events of a file of conversations."""

    items: tuple[AnnotationItem, ...]
    events: tuple[tuple[str, Event], ...]
    """Person and event, in order. The client ids are those of a second import too."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A turn of a source."""

    query: Query
    answer: str | None
    """The agent's text."""
    final: str | None
    """The text after editing."""
    found: Mapping[str, Sequence[Passage]] = field(default_factory=dict)
    """Search by a person -> passages; "" is the agent's own search."""
    votes: Sequence[tuple[str, str, str]] = ()
    """Person, passage id, yes or no."""


def conversation_items(source: str | Path) -> ConversationItems:
    """Return the conversations of a file in mtRAG's form or of a data set.

    `keep_conversations` keeps the events; a second import of the same file changes nothing.

    Raises `DatasetError` if the source has no conversations, or a malformed one.
    """
    files = _mtrag_files(Path(source))
    told = dict(_of_mtrag(files) if files else _of_dataset(load_dataset(source)))
    if not told:
        raise DatasetError(
            f"{source} has no conversations: it needs rows with 'messages', as mtRAG has them, or "
            "queries with the labels 'conversation' and 'turn'"
        )
    items = tuple(_item(name, turns[0].query) for name, turns in told.items())
    return ConversationItems(
        items, tuple(one for name, turns in told.items() for one in _events(name, turns))
    )


def keep_conversations(database: Database, found: ConversationItems) -> None:
    """Keep the events of imported conversations, in few transactions."""
    staged = sorted(found.events, key=_stage)
    for (_, person), given in groupby(staged, key=lambda one: (_stage(one), one[0])):
        events = [event for _, event in given]
        for start in range(0, len(events), limits.POSTED_EVENTS):
            database.append(person, events[start : start + limits.POSTED_EVENTS])


def _stage(one: tuple[str, Event]) -> tuple[int, str]:
    """Return the place of an event among those of all conversations: votes in their order."""
    person, event = one
    if event.kind in ("ask", "reply"):
        return ("ask", "reply").index(event.kind), ""
    return (3, "") if event.field == "submitted" else (2, person)


def _mtrag_files(path: Path) -> list[Path]:
    """Return the files of conversations in mtRAG's form."""
    if path.is_dir():
        return sources(path, "conversations") if (path / "conversations").is_dir() else []
    if not path.name.endswith(_ENDS) or not path.exists():
        return []
    _, first = next(iter(document_rows(path)), ("", Row()))
    return [path] if "messages" in first else []


def _of_mtrag(paths: Sequence[Path]) -> Iterator[tuple[str, list[_Told]]]:
    names = conversation_ids(paths[0].parent.parent)
    seen: set[str] = set()
    for path in paths:
        for place, row in document_rows(path):
            with reading(path, place):
                name = conversation_id(row, place, names)
                if name in seen:
                    raise FieldError(f"the conversation {name!r} occurs twice")
                seen.add(name)
                yield name, _mtrag_turns(row, name)


def _mtrag_turns(row: Row, name: str) -> list[_Told]:
    people = {str(row["author"]): IMPORT} if row.get("author") else {}
    messages = [Row.of(one) for one in row.get("messages") or ()]
    answers: list[Row] = []
    for message in messages:
        if message.get("speaker") == "user":
            answers.append(Row())
        elif answers:
            answers[-1] = message
    turns = list(conversation_turns(Row(row), name, "error"))
    return [
        _Told(
            turn.query,
            answer.get("original_text") or answer.get("text"),
            answer.get("text"),
            _found(answer),
            _votes(answer, people) or [(IMPORT, one, "yes") for one in turn.gold],
        )
        for turn, answer in zip(turns, answers, strict=True)
    ]


def _found(answer: Row) -> dict[str, list[Passage]]:
    """Return the passages of an answer by the search that found them."""
    found: dict[str, list[Passage]] = {"": []}
    seen: set[str] = set()
    for context in answer.get("contexts") or ():
        passage, search = passage_of(Row.of(context)), _search(context.get("query"))
        if passage.passage_id not in seen:
            searched = "" if search.startswith(_AGENT_QUERY) else search
            found.setdefault(searched, []).append(passage)
        seen.add(passage.passage_id)
    return found


def _search(written: Any) -> str:
    """Return the text of a search, which mtRAG has deep within the query of its engine."""
    if isinstance(written, str):
        return written
    if not isinstance(written, dict):
        return ""
    text = written.get("model_text")
    return text if isinstance(text, str) else next(filter(None, map(_search, written.values())), "")


def _votes(answer: Row, people: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return the votes on the passages of an answer, the last one last; name new voters."""
    found: list[tuple[str, str, str]] = []
    for context in answer.get("contexts") or ():
        given = ((context.get("feedback") or {}).get("relevant") or {}).items()
        for voter, vote in sorted(given, key=lambda one: one[1].get("timestamp") or 0):
            value = str(vote.get("value")).lower()
            if value in ("yes", "no"):
                number = f" {len(people) + 1}" if people else ""
                person = people.setdefault(voter, f"{IMPORT}{number}")
                found.append((person, str(context["document_id"]), value))
    return found


def _of_dataset(dataset: Dataset) -> Iterator[tuple[str, list[_Told]]]:
    for conversation in dataset.conversations:
        turns = conversation.turns
        for number, query in enumerate(turns, 1):
            if query.turn != number:
                raise DatasetError(
                    f"conversation {conversation.conversation_id!r}: turn {number} is missing "
                    f"(found turn {query.turn}); a conversation must be complete"
                )
        later = [*turns[1:], None]
        pairs = zip(turns, later, strict=True)
        yield conversation.conversation_id, [_dataset_turn(dataset, *pair) for pair in pairs]


def _dataset_turn(dataset: Dataset, query: Query, following: Query | None) -> _Told:
    place = len(query.history) + 1
    said = following.history[place].text if following and len(following.history) > place else None
    final = said if said is not None else next(iter(query.gold_answers), None)
    original = query.labels.get("original_response")
    judged = dataset.qrels.get(query.query_id, {})
    return _Told(
        query,
        original if isinstance(original, str) else final,
        final,
        {"": [dataset.corpus[passage_id] for passage_id in judged]},
        [(IMPORT, one, "yes" if grade > 0 else "no") for one, grade in judged.items()],
    )


def _item(name: str, query: Query) -> AnnotationItem:
    shared = {label: query.labels[label] for label in OF_CONVERSATION if label in query.labels}
    return AnnotationItem(name, Query(name, query.text, labels=shared))


def _events(name: str, turns: Sequence[_Told]) -> Iterator[tuple[str, Event]]:
    """Yield person and event of a conversation; events of one person are together."""
    asks = [list(_asks(name, number, told)) for number, told in enumerate(turns, 1)]
    for asked in asks:
        yield from ((IMPORT, ask) for ask, _ in asked)
    for asked in asks:
        for ask, value in asked:
            yield (
                AGENT,
                _event(name, "reply", (ask.field, ask.part), {"ask": ask.client_id, **value}),
            )
    votes = [(number, *vote) for number, told in enumerate(turns, 1) for vote in told.votes]
    marks: dict[str, list[Event]] = {IMPORT: []}
    for number, told in enumerate(turns, 1):
        given = _labels(name, number, told).items()
        marks[IMPORT] += [_event(name, "label", (key, str(number)), value) for key, value in given]
    for number, person, passage_id, vote in votes:
        mark = _event(name, "label", ("relevance", f"{number}/{passage_id}"), vote, person)
        marks.setdefault(person, []).append(mark)
    for person, events in marks.items():
        yield from ((person, event) for event in events)
    yield IMPORT, _event(name, "label", ("submitted", ""), value=True)


def _asks(name: str, number: int, told: _Told) -> Iterator[tuple[Event, dict[str, Any]]]:
    """Yield the query and the searches of a turn, each with the agent's reply."""
    for search, passages in told.found.items():
        about, text = ("search", search) if search else ("query", told.query.text)
        reply: dict[str, Any] = {"passages": list(map(_passage, passages))}
        if about == "query":
            reason = "" if told.answer is not None else "the source has no answer"
            reply |= {"answer": told.answer, "search": "", "reason": reason}
        yield _event(name, "ask", (about, str(number)), {"text": text}), reply


def _labels(name: str, number: int, told: _Told) -> dict[str, Any]:
    """Return the known labels of a turn, field -> value."""
    query = told.query
    known = orjson.loads(labels_to_json(query.labels)) if query.labels else {}
    labels = {k: v for k, v in known.items() if k not in _NOT_KEPT}
    if told.final != told.answer:
        labels["answer"] = told.final
    if query.gold_answers != (told.final,):
        labels["answers"] = list(query.gold_answers)
    if query.rewrite:
        labels["rewrite"] = query.rewrite
    if query.query_id != f"{name}{SEPARATOR}{number}":
        labels["query_id"] = query.query_id
    return labels


def _passage(passage: Passage) -> dict[str, str]:
    return {"passage_id": passage.passage_id, "title": passage.title, "text": passage.text}


def _event(name: str, kind: EventKind, place: tuple[str, str], value: Any, who: str = "") -> Event:
    """Return an event about a field and a part; its client id follows from its content."""
    content = orjson.dumps([name, who, kind, *place, value], option=orjson.OPT_SORT_KEYS)
    return Event(f"import-{hashlib.sha256(content).hexdigest()[:32]}", kind, name, *place, value)
