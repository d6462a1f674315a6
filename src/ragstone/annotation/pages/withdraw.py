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
    """Keep the event of a withdrawal; the reason null takes the item back."""
    item_id, reason = body.get("item_id"), body.get("reason")
    if set(body) != _FIELDS or not isinstance(reason, str | None) or reason == "":
        said = 'The body must be {"item_id": ..., "reason": a text, or null to undo}.'
        raise PageError(400, StateText(said))
    if len(reason or "") > limits.EVENT_ID_CHARACTERS:
        most = limits.EVENT_ID_CHARACTERS
        raise PageError(400, StateText(f"The reason has more than {most} characters."))
    if item_id not in site.project.items:
        raise PageError(404, StateText(f"There is no item {item_id!r} in this project."))
    event = Event(secrets.token_urlsafe(12), "withdraw", item_id, value=reason)
    kept = site.database.append(person.name, [event])
    return {"item_id": item_id, "withdrawn": reason is not None, "sequence": kept[0].sequence}


WITHDRAW: Final = SiteCall("/withdraw", _run, roles=("owner",))
