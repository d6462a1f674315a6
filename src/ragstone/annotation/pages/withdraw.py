"""The call by which an owner withdraws an item, or takes it back into the project."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from ragstone.annotation.database import Person
from ragstone.annotation.events import Event
from ragstone.annotation.site import Document, Site, SiteCall
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText

_FIELDS: Final = {"item_id", "reason"}


def _run(site: Site, person: Person, body: Mapping[str, Any]) -> Document:
    """Keep the event of a withdrawal; with the reason null, its own person undoes it."""
    item_id, reason = body.get("item_id"), body.get("reason")
    known = isinstance(item_id, str) and isinstance(reason, str | None)
    if set(body) != _FIELDS or not known or reason == "":
        said = 'The body must be {"item_id": ..., "reason": a text, or null to undo}.'
        raise PageError(400, StateText(said))
    if len(reason or "") > limits.EVENT_ID_CHARACTERS:
        most = limits.EVENT_ID_CHARACTERS
        raise PageError(400, StateText(f"The reason has more than {most} characters."))
    if item_id not in site.project.items:
        raise PageError(404, StateText(f"There is no item {item_id!r} in this project."))
    events = [_withdrawal(item_id, reason)] if reason else _undo(site, person, item_id)
    site.database.append(person.name, events)
    return {"item_id": item_id, "withdrawn": site.database.withdrawn([item_id]).get(item_id)}


def _withdrawal(item_id: str, reason: str) -> Event:
    return Event(secrets.token_urlsafe(12), "withdraw", item_id, value=reason)


def _undo(site: Site, person: Person, item_id: str) -> list[Event]:
    """Return the events that take an item back, also one that a person withdrew twice."""
    undone = site.database.undone(item_id)
    events = site.database.events(item_id=item_id, kinds=("withdraw",))
    kept = [one for one in events if one.event.client_id not in undone]
    if not kept:
        raise PageError(409, StateText(f"The item {item_id!r} is not withdrawn."))
    mine = [one.event.client_id for one in kept if one.person == person.name]
    if not mine:
        said = f"{kept[0].person} withdrew the item and may undo it."
        raise PageError(409, StateText(said))
    return [Event(secrets.token_urlsafe(12), "undo", item_id, value=one) for one in mine]


WITHDRAW: Final = SiteCall("/withdraw", _run, roles=("owner",))
