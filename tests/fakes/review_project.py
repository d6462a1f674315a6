"""A project of imported conversations: mtRAG's form, with repairs, votes of two people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragstone.annotation.conversation_import import conversation_items, keep_conversations
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.project import Project

HOSTILE = "<script>document.title='owned'</script>"


def user(text: str, kind: str = "ANSWERABLE", turn: str = "Follow-up") -> dict[str, Any]:
    """Return a query in mtRAG's form."""
    labels = {"Question Type": ["Factoid"], "Multi-Turn": [turn], "Answerability": [kind]}
    return {"speaker": "user", "text": text, "enrichments": labels}


def found(
    number: int, *votes: str, search: str = "|user|: boats", text: str = ""
) -> dict[str, Any]:
    """Return a passage that was found, with the votes of the author and the editor in order."""
    people = zip(("u-author", "u-editor"), votes, strict=False)
    return {
        "document_id": f"boats-{number}",
        "title": f"Boats {number}",
        "text": f"Boats {number}\n{text or f'The boat {number} sails at {number} sharp.'}",
        "query": {"query": {"text_expansion": {"model_text": search}}},
        "feedback": {
            "relevant": {who: {"value": v, "timestamp": n} for n, (who, v) in enumerate(people)}
        },
    }


def agent(text: str, *contexts: dict[str, Any], original: str = "") -> dict[str, Any]:
    """Return an answer in mtRAG's form."""
    edited = {"original_text": original} if original else {}
    return {"speaker": "agent", "text": text, "contexts": list(contexts), **edited}


def told(name: str, *messages: dict[str, Any]) -> dict[str, Any]:
    """Return a conversation in mtRAG's form."""
    domain = "mt-rag-boats-elser-512-100-20240503"
    return {"conversation_id": name, "author": "u-author", "domain": domain, "messages": messages}


CONVERSATIONS = [
    told(
        "night-boats",
        user("When does the boat of line 1 sail?", turn="N/A"),
        agent(
            "It sails at 1 sharp.",
            found(1, "yes"),
            found(2, "no"),
            original="It sails at 2 sharp, and pets are welcome.",
        ),
        user("Does it carry bicycles?", "PARTIAL"),
        agent(
            "The passages name line 3 alone.",
            found(1, "yes", "no"),
            found(3, "yes", search="bicycles line 3"),
        ),
        user("Who is its captain?", "UNANSWERABLE"),
        agent("I do not know.", found(2, "no"), original="The captain is Ms Aldwyn."),
    ),
    told(
        "day-boats",
        user(f"هل يمكن إلغاء الحجز؟ {HOSTILE}", turn="N/A"),
        agent(f"نعم. {HOSTILE}", found(4, "yes", text=HOSTILE), original="لا أعرف."),
        user("And on Sundays?"),
        agent("Never on Sundays.", found(5, "yes")),
    ),
]


def review_project(folder: Path) -> Path:
    """Write a project with both conversations, which wait for review."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "conversations.json"
    source.write_text(json.dumps(CONVERSATIONS), encoding="utf-8")
    imported = conversation_items(source)
    items = [
        {"item_id": one.item_id, "query": one.query.text, **one.query.labels}
        for one in imported.items
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items))
    (folder / "project.yaml").write_text("name: boats\ntask: conversation\n")
    with opened(folder) as (_, database):
        keep_conversations(database, imported)
    return folder


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Project, Database]]:
    """Yield a project and its database."""
    project = Project.open(folder)
    database = Database.of(project)
    try:
        yield project, database
    finally:
        database.close()


def label(item_id: str, field: str, part: str, value: Any, number: int = 0) -> Event:
    """Return a label; `number` tells equal ones apart."""
    name = f"{item_id}-{field}-{part.replace('/', '-')}-{number}-{abs(hash(str(value)))}"
    return Event(name, "label", item_id, field, part, value)


def accept(database: Database, person: str, item_id: str, turns: int, verdict: str = "") -> None:
    """Accept all turns of a conversation, and the conversation."""
    marks = [label(item_id, "decision", str(n), "accept") for n in range(1, turns + 1)]
    database.append(person, [*marks, label(item_id, "verdict", "", verdict or "accepted")])
