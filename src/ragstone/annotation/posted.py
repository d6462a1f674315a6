"""The answer to posted events: what became of them, and what else a browser must learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.items import base_id
from ragstone.annotation.keeping import Receipt, receipts_document


def events_answer(
    database: Database, person: str, events: Sequence[Event], receipts: Sequence[Receipt]
) -> dict[str, Any]:
    """Return the answer to the events of a request, as plain data.

    `confirmed` has `client_id` and `sequence` of what is kept, `refused` has `client_id` and
    `reason` of what never can be: a browser forgets both. For the items of the request, `current`
    has the labels of the person that count now, perhaps from another tab, and `withdrawn` the
    reasons of those that the owner took out of the project.
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


def _labels(database: Database, item_id: str, person: str) -> list[dict[str, Any]]:
    return [
        {"field": one.field, "part": one.part, "value": one.value, "sequence": one.sequence}
        for one in database.labels(item_id=item_id, person=person)
    ]
