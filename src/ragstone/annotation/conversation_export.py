"""Reviewed conversations as files: in mtRAG's form, and as a data set.

Equal events give equal bytes. An accepted turn belongs to an accepted conversation, and no reviewer
rejected it. A rejected turn stays in the history of the later ones, which were written after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.annotation.conversation import WrittenConversation, WrittenTurn, conversation
from ragstone.annotation.conversation_import import OF_CONVERSATION, OF_TURN
from ragstone.annotation.database import Database
from ragstone.annotation.items import AnnotationItem
from ragstone.annotation.project import Project
from ragstone.core.schemas import labels_from_json, queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.mtrag_turns import SEPARATOR
from ragstone.data.table_builder import judgements
from ragstone.data.writers.folder import write_dataset, write_lines
from ragstone.data.writers.mtrag import published_labels, with_title
from ragstone.errors import DatasetError
from ragstone.types import Label, Message, Passage, Query

_LINES: Final = ".jsonl"
_NOBODY: Final = "nobody"


@dataclass(frozen=True, slots=True)
class _Written:
    """A conversation of a project with the item that it began with."""

    item: AnnotationItem
    state: WrittenConversation
    votes: Mapping[str, Mapping[str, str]]
    """Part of a mark, `3/PASSAGE_ID` -> person -> yes or no, the last one last."""
    chosen: tuple[WrittenTurn, ...]
    """The turns that are written: the last one is accepted."""

    def query_id(self, turn: WrittenTurn) -> str:
        """Return the id of a turn's query."""
        given = turn.labels.get("query_id")
        return given if isinstance(given, str) else f"{self.item.item_id}{SEPARATOR}{turn.number}"


def write_mtrag(
    project: Project, database: Database, path: Path, *, names: bool = True, every: bool = False
) -> str:
    """Write the accepted conversations in mtRAG's form and return the SHA-256 of the file.

    Args:
        project: a project of conversations.
        database: its events.
        path: the file: `.jsonl` has a conversation per line, others are a JSON list.
        names: whether people are named; if not, they are `person 1` and so on.
        every: conversations that are not accepted are written as well, with all turns.

    Raises `DatasetError` if there is nothing to write, or if the file exists.
    """
    people = _People(names=names)
    rows = [_row(one, people) for one in _written(project, database, every=every)]
    if path.name.endswith(_LINES):
        content = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    else:
        content = orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_lines({path: [content]})
    return hashlib.sha256(content).hexdigest()


def write_conversation_dataset(
    project: Project, database: Database, folder: Path, *, every: bool = False
) -> str:
    """Write the accepted turns as a data set and return the SHA-256 of its files.

    See `write_mtrag`. No person is named in it. Raises `DatasetError` if the folder has a data set.
    """
    files = write_dataset(conversation_dataset(project, database, every=every), folder)
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.name}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def conversation_dataset(project: Project, database: Database, *, every: bool = False) -> Dataset:
    """Return the accepted turns of a project, the passages that people saw, and their marks."""
    queries: list[Query] = []
    passages: dict[str, Passage] = {}
    grades: dict[tuple[str, str], int] = {}
    for one in _written(project, database, every=every):
        history: list[Message] = []
        for turn in one.chosen:
            if every or turn.decision != "reject":
                query = _query(one, turn, history)
                queries.append(query)
                marks = turn.relevance.items()
                grades |= {(query.query_id, i): int(v == "yes") for i, v in marks}
                found = (p for p in turn.passages if p.text)
                passages |= {p.passage_id: p for p in found if p.passage_id not in passages}
            history += _messages(turn)
    known = {pair: grade for pair, grade in grades.items() if pair[1] in passages}
    corpus = Corpus.from_passages(list(passages.values()))
    return Dataset(project.name, queries_to_table(queries), corpus, judgements(known))


def _written(project: Project, database: Database, *, every: bool) -> Iterator[_Written]:
    """Yield the conversations to be written, in the order of the items."""
    some = False
    for item in project.items.values():
        state = conversation(database, item.item_id)
        chosen = state.turns if every else _accepted(state)
        if chosen:
            some = True
            yield _Written(item, state, _votes(database, item.item_id), chosen)
    if not some:
        which = "has a turn" if every else "is accepted by a reviewer"
        raise DatasetError(
            f"no conversation of the project {project.name!r} {which}; "
            + ("write one" if every else "review some, or export them with --all")
        )


def _accepted(state: WrittenConversation) -> tuple[WrittenTurn, ...]:
    """Return the turns up to the last one that is accepted."""
    if state.state != "accepted":
        return ()
    last = max((n for n, t in enumerate(state.turns, 1) if t.decision != "reject"), default=0)
    return state.turns[:last]


def _votes(database: Database, item_id: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    labels = database.labels(item_id=item_id, field="relevance")
    for label in sorted(labels, key=lambda one: one.sequence):
        found.setdefault(label.part, {})[label.person] = str(label.value)
    return found


class _People:
    """Names as they are written."""

    def __init__(self, *, names: bool) -> None:
        self._names = names
        self._numbers: dict[str, int] = {}

    def name(self, person: str) -> str:
        """Return the name of a person, or `person 1`."""
        if self._names or not person:
            return person
        return f"person {self._numbers.setdefault(person, len(self._numbers) + 1)}"


def _row(one: _Written, people: _People) -> dict[str, Any]:
    """Return a conversation in mtRAG's form."""
    labels = one.item.query.labels
    state = one.state
    row = {
        "conversation_id": one.item.item_id,
        "author": people.name(state.writer),
        "Collection": labels.get("collection") or labels.get("domain") or "",
        "status": state.state,
    }
    if state.reviewer:
        row |= {"reviewer": people.name(state.reviewer), "editor": people.name(state.reviewer)}
    messages: list[dict[str, Any]] = []
    for turn in one.chosen:
        # Two queries in a row are no conversation in mtRAG's form.
        if turn.final_answer or turn is one.chosen[-1]:
            messages += [_asked(one, turn), *_answered(one, turn, people)]
    return {**row, "messages": messages}


def _asked(one: _Written, turn: WrittenTurn) -> dict[str, Any]:
    query = _query(one, turn, ())
    known = {k: v for k, v in query.labels.items() if k != "original_response"}
    labels = published_labels(
        Query(query.query_id, query.text, labels=known, rewrite=query.rewrite)
    )
    others = labels.pop("labels", {})
    if turn.decision == "reject":
        others = {**others, "decision": turn.decision}
    return {
        "speaker": "user",
        "text": turn.query,
        "task_id": query.query_id,
        "enrichments": labels,
        **({"rewrite": query.rewrite} if query.rewrite else {}),
        **({"labels": others} if others else {}),
    }


def _answered(one: _Written, turn: WrittenTurn, people: _People) -> Iterator[dict[str, Any]]:
    """Yield the agent's message, with the texts of the agent and of the writer if they differ."""
    final = turn.final_answer
    if not final:
        return
    gold = _gold(turn)
    written = turn.written_answer
    yield {
        "speaker": "agent",
        "text": final,
        **({"original_text": turn.answer} if turn.answer not in (None, final) else {}),
        **({"written_text": written} if written not in (turn.answer, final) else {}),
        **({"answers": gold} if gold != (final,) else {}),
        "contexts": [
            {
                "document_id": passage.passage_id,
                "text": with_title(passage),
                "title": passage.title,
                "feedback": _feedback(one, f"{turn.number}/{passage.passage_id}", people),
            }
            for passage in turn.passages
        ],
    }


def _feedback(one: _Written, part: str, people: _People) -> dict[str, Any]:
    """Return the votes on a passage; their order is their time."""
    if not one.votes:
        # In a conversation without a vote, readers take all passages for relevant.
        return {"relevant": {_NOBODY: {"value": "not marked", "timestamp": 0}}}
    given = enumerate(one.votes.get(part, {}).items(), 1)
    return {"relevant": {people.name(who): {"value": v, "timestamp": n} for n, (who, v) in given}}


def _query(one: _Written, turn: WrittenTurn, history: Sequence[Message]) -> Query:
    """Return a turn as a query, with its labels."""
    item, final = one.item, turn.final_answer
    shared = {k: v for k, v in item.query.labels.items() if k in OF_CONVERSATION}
    own = orjson.dumps({k: v for k, v in turn.labels.items() if k not in OF_TURN}).decode()
    labels: dict[str, Label] = {
        "conversation": item.item_id,
        **shared,
        **_plain(labels_from_json(own)),
        "turn": turn.number,
    }
    if final is not None and turn.answer not in (None, final):
        labels["original_response"] = turn.answer or ""
    rewrite = turn.labels.get("rewrite")
    return Query(
        one.query_id(turn),
        turn.query,
        _gold(turn),
        tuple(history),
        rewrite if isinstance(rewrite, str) else "",
        labels,
    )


def _plain(labels: Mapping[str, Any]) -> dict[str, Label]:
    """Return labels without values that no data set can have."""
    return {
        name: value
        for name, value in labels.items()
        if isinstance(value, str | int | float | bool | tuple) and value not in ("", ())
    }


def _gold(turn: WrittenTurn) -> tuple[str, ...]:
    """Return the gold answers: the final text, or those of the source if no reviewer changed it."""
    given, final = turn.labels.get("answers"), turn.final_answer
    untouched = turn.reviewed.answer is None or turn.reviewed.answer == turn.written.answer
    if isinstance(given, list) and untouched:
        return tuple(str(one) for one in given)
    return (final,) if final else ()


def _messages(turn: WrittenTurn) -> list[Message]:
    said = [Message("user", turn.query)]
    return [*said, Message("agent", turn.final_answer)] if turn.final_answer else said
