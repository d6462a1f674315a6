"""The answer to posted events: what became of them, and what else a browser must learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
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
    return {
        **receipts_document(receipts),
        "current": {item_id: _labels(database, item_id, person) for item_id in items},
        "withdrawn": withdrawn(database, items),
    }


def withdrawn(database: Database, items: Sequence[str]) -> dict[str, str]:
    """Return item id -> reason, for those of the items that are withdrawn now."""
    found = {}
    for item_id in items:
        for one in database.events(item_id=item_id, kinds=("withdraw",)):
            if one.event.client_id not in database.undone(item_id):
                found[item_id] = str(one.event.value or "")
    return found


def _labels(database: Database, item_id: str, person: str) -> list[dict[str, Any]]:
    return [
        {"field": one.field, "part": one.part, "value": one.value, "sequence": one.sequence}
        for one in database.labels(item_id=item_id, person=person)
    ]
