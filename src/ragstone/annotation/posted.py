"""The answer to posted events: their outcomes, current labels and withdrawn items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.annotation.database import Database
from ragstone.annotation.derived import CHANGES_A_LABEL
from ragstone.annotation.events import Event
from ragstone.annotation.items import base_id
from ragstone.annotation.keeping import Receipt, receipts_document
from ragstone.annotation.schemes import Scheme
from ragstone.annotation.site import Site
from ragstone.data.readers.rows import show


def events_answer(
    database: Database, person: str, events: Sequence[Event], receipts: Sequence[Receipt]
) -> dict[str, Any]:
    """Return the answer to the events of a request, as plain data.

    `confirmed` has `client_id` and `sequence` of kept events, `refused` has `client_id` and
    `reason` of events that can never be kept: a browser forgets both. For the items of the
    request, `current` has the labels of the person that count now, perhaps from another tab, and
    `withdrawn` the reasons of those that the owner took out of the project.
    """
    items = list(dict.fromkeys(one.item_id for one in events))
    # An event for a withdrawn item is refused.
    asked = [base_id(one) for one in items] if any(one.reason for one in receipts) else []
    gone = database.withdrawn(asked) if asked else {}
    return {
        **receipts_document(receipts),
        "current": {item_id: _labels(database, item_id, person) for item_id in items},
        "withdrawn": {one: gone[base_id(one)] for one in items if base_id(one) in gone},
    }


def not_a_label(scheme: Scheme, event: Event) -> str:
    """Return why an event is not an answer to its question; "" if it is, or has no question.

    Readers of the labels, such as an export, rely on the scheme.
    """
    question = scheme.question(event.field) if event.kind == "label" else None
    if question is None or question.is_label(event.value):
        return ""
    return f"the question {event.field!r} has no label {show(event.value)}"


def qualification_is_over(site: Site, person: str, event: Event) -> str:
    """Return why a label of a qualification item comes too late; "" if it does not.

    A person who finished them sees how many are right, and could try labels until all are.
    """
    item = site.project.items.get(base_id(event.item_id))
    if site.project.settings.qualification is None or item is None or not item.known:
        return ""
    if event.kind not in (*CHANGES_A_LABEL, "undo"):
        return ""
    with site.work.lock:
        site.work.refresh()
        if site.work.open_known(person):
            return ""
    kept = site.database.events(item_id=event.item_id, person=person)
    if any(one.event.client_id == event.client_id for one in kept):
        return ""  # a second copy is confirmed as the first one
    return "the qualification is over: its labels stay as they are"


def _labels(database: Database, item_id: str, person: str) -> list[dict[str, Any]]:
    return [
        {"field": one.field, "part": one.part, "value": one.value, "sequence": one.sequence}
        for one in database.labels(item_id=item_id, person=person)
    ]
