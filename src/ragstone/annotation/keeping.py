"""Keeping events: many of several people at once, each counted once, and the labels that follow.

A second copy of an event is confirmed as the first one. An event that cannot be kept is refused
with a reason, and the others are kept.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from ragstone.annotation.derived import CHANGES_A_LABEL, Place, label_now, label_row, place_of
from ragstone.annotation.events import DRAW_ID, Event, KeptEvent
from ragstone.annotation.items import ADJUDICATED, base_id
from ragstone.annotation.tables import EVENTS, LABELS, event_row, kept_event
from ragstone.core.times import utc_text
from ragstone.web import limits

_AFTER_WITHDRAWAL: Final = ("withdraw", "undo")
_KEY: Final = tuple(column.name for column in LABELS.primary_key)


@dataclass(frozen=True, slots=True)
class Posted:
    """Events that one person sent at once."""

    person: str
    events: Sequence[Event]
    is_owner: bool = True
    """Whether the person may withdraw items."""
    may_decide: bool = True
    """Whether the person may decide the disagreements of others."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of a sent event."""

    client_id: str
    kept: KeptEvent | None = None
    """The event as it is kept; of a second copy, the first one. None if it was refused."""
    known: bool = False
    """Whether it is a second copy."""
    differs: bool = False
    """Whether the first copy is of another person or has other content; it counts."""
    reason: str = ""
    """Why it was refused."""


def receipts_document(receipts: Sequence[Receipt]) -> dict[str, Any]:
    """Return receipts as plain data: `confirmed`, and `refused` with reasons."""
    confirmed, refused = list[dict[str, Any]](), list[dict[str, Any]]()
    for one in receipts:
        if one.kept is None:
            refused.append({"client_id": one.client_id, "reason": one.reason})
            continue
        marks = {name: True for name in ("known", "differs") if getattr(one, name)}
        confirmed.append({"client_id": one.client_id, "sequence": one.kept.sequence} | marks)
    return {"confirmed": confirmed} | ({"refused": refused} if refused else {})


def keep(
    connection: sa.Connection, posts: Sequence[Posted], item_ids: Container[str] | None = None
) -> list[list[Receipt]]:
    """Keep the events of some requests, and return the receipts of each request.

    Args:
        connection: a transaction of the only writer.
        posts: the requests, in the order in which they arrived.
        item_ids: the items of the project; None: any item is accepted.
    """
    batch = _Batch(connection, posts, item_ids)
    found = [[batch.add(post, event) for event in post.events] for post in posts]
    batch.write()
    return found


class _Batch:
    """The events of one transaction. They are written together, or before an undo."""

    def __init__(
        self, connection: sa.Connection, posts: Sequence[Posted], item_ids: Container[str] | None
    ) -> None:
        self.connection, self.item_ids = connection, item_ids
        events = [event for post in posts for event in post.events]
        # No database knows such a text: PostgreSQL would refuse the whole transaction.
        ids = sorted({one.client_id for one in events if "\0" not in one.client_id})
        items = sorted({base_id(one.item_id) for one in events if "\0" not in one.item_id})
        rows = connection.execute(sa.select(EVENTS).where(EVENTS.c.client_id.in_(ids)))
        self.known = {row.client_id: kept_event(row) for row in rows}
        self.withdrawn = _withdrawn(connection, items)
        last = connection.execute(sa.select(sa.func.max(EVENTS.c.sequence))).scalar_one()
        self.sequence = last or 0
        self.rows: list[dict[str, Any]] = []
        self.labels: dict[Place, dict[str, Any] | None] = {}

    def add(self, post: Posted, event: Event) -> Receipt:
        """Keep an event, if it is new and has no reason for a refusal."""
        known = self.known.get(event.client_id)
        if known is not None:
            differs = (known.person, known.event) != (post.person, event)
            return Receipt(event.client_id, known, known=True, differs=differs)
        reason = self._refusal(post, event)
        if reason:
            return Receipt(event.client_id, reason=reason)
        self.sequence += 1
        kept = KeptEvent(self.sequence, post.person, utc_text(timespec="milliseconds"), event)
        self.known[event.client_id] = kept
        self._follow(kept)
        return Receipt(event.client_id, kept)

    def write(self) -> None:
        """Write the pending events and labels."""
        if self.rows:
            self.connection.execute(sa.insert(EVENTS), self.rows)
        if self.labels:
            keys = [
                {f"of_{n}": v for n, v in zip(_KEY, place, strict=True)} for place in self.labels
            ]
            of = (LABELS.c[name] == sa.bindparam(f"of_{name}") for name in _KEY)
            self.connection.execute(sa.delete(LABELS).where(*of), keys)
            given = [row for row in self.labels.values() if row is not None]
            if given:
                self.connection.execute(sa.insert(LABELS), given)
        self.rows, self.labels = [], {}

    def _refusal(self, post: Posted, event: Event) -> str:
        """Return why an event is not kept; "" if it is."""
        if self.item_ids is not None and base_id(event.item_id) not in self.item_ids:
            return f"the project has no item {event.item_id!r}"
        if base_id(event.item_id) in self.withdrawn and event.kind not in _AFTER_WITHDRAWAL:
            return f"the item {event.item_id!r} was withdrawn"
        reason = _no_right(post, event) or _no_text(post, event)
        if not reason and event.kind == "undo":
            reason = self._no_undo(post, event)
        return reason

    def _no_undo(self, post: Posted, undo: Event) -> str:
        """Return why an event cannot be undone so; an unknown one can: it has no effect."""
        named = str(undo.value)
        kept = self.known.get(named)
        if kept is None:
            wanted = sa.select(EVENTS).where(EVENTS.c.client_id == named)
            row = self.connection.execute(wanted).one_or_none()
            kept = None if row is None else kept_event(row)
        if kept is None:
            return ""
        if kept.person != post.person:
            return f"the event {named!r} is of another person, who may undo it"
        if kept.event.item_id != undo.item_id:
            return f"the event {named!r} is about the item {kept.event.item_id!r}; undo it there"
        return "an undo is not undone: label again" if kept.event.kind == "undo" else ""

    def _follow(self, kept: KeptEvent) -> None:
        """Note an event with its effects."""
        row, event = event_row(kept), kept.event
        self.rows.append(row)
        if event.kind in CHANGES_A_LABEL:
            place = place_of(event, kept.person)
            self.labels[place] = None if event.value is None else label_row(place, row)
        elif event.kind == "withdraw":
            self.withdrawn.add(event.item_id)
        elif event.kind == "undo":
            self.write()
            self._undo(kept)

    def _undo(self, undo: KeptEvent) -> None:
        """Let an earlier event of the same person no longer count."""
        mine = (EVENTS.c.client_id == str(undo.event.value), EVENTS.c.person == undo.person)
        row = self.connection.execute(sa.select(EVENTS).where(*mine)).one_or_none()
        if row is None or row.undone or row.sequence >= undo.sequence:
            return
        self.connection.execute(sa.update(EVENTS).where(*mine).values(undone=True))
        event = kept_event(row).event
        if event.kind in CHANGES_A_LABEL:
            place = place_of(event, undo.person)
            self.labels[place] = label_now(self.connection, place)
        elif event.kind == "withdraw":
            self.withdrawn -= {event.item_id}
            self.withdrawn |= _withdrawn(self.connection, [event.item_id])


def _no_right(post: Posted, event: Event) -> str:
    """Return why a person may not do this; "" if they may."""
    if event.kind == "withdraw":
        if not post.is_owner:
            return "only an owner of the project withdraws an item"
        if event.item_id != base_id(event.item_id):
            return f"{event.item_id!r} is a second showing: withdraw {base_id(event.item_id)!r}"
    if event.field.startswith(ADJUDICATED) and not post.may_decide:
        return "only reviewers and owners decide what people disagree about"
    if event.client_id.startswith(DRAW_ID) and event.kind != "draw":
        return f"ids that begin with {DRAW_ID!r} are those of the server"
    return ""


def _no_text(post: Posted, event: Event) -> str:
    """Return why the texts of an event cannot be kept; "" if they can."""
    texts = (event.client_id, event.item_id, event.field, event.part, event.client_time)
    named = str(event.value) if event.kind == "undo" else ""
    if any("\0" in text for text in (*texts, named)):
        return "a text contains the character NUL, which no database keeps"
    place = "".join(place_of(event, post.person)).encode()
    if len(place) > limits.LABEL_PLACE_BYTES:
        most = f"{limits.LABEL_PLACE_BYTES:,}"
        return f"the item, person, field and part have {len(place):,} bytes, more than {most}"
    return ""


def _withdrawn(connection: sa.Connection, item_ids: Sequence[str]) -> set[str]:
    """Return those of some items that the owner took out of the project."""
    wanted = sa.select(EVENTS.c.item_id).where(
        EVENTS.c.item_id.in_(item_ids), EVENTS.c.kind == "withdraw", ~EVENTS.c.undone
    )
    return set(connection.execute(wanted).scalars())
