"""Events that browsers post: which ones are kept, and which ones are refused for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event, KeptEvent
from ragstone.annotation.review import refusal

if TYPE_CHECKING:
    from ragstone.annotation.site import Site


@dataclass(frozen=True, slots=True)
class Posted:
    """The answer to posted events; a browser forgets those that are confirmed or refused."""

    confirmed: Sequence[Mapping[str, Any]]
    """`client_id` and `sequence` of each kept event, second copies included."""
    refused: Sequence[Mapping[str, Any]]
    """`client_id` and `reason` of each event that can never be kept."""
    current: Mapping[str, Sequence[Mapping[str, Any]]]
    """Item id -> the labels of this person that count now, perhaps from another tab."""
    withdrawn: Mapping[str, str]
    """Item id -> why the item was withdrawn."""


def post(site: Site, person: Person, events: Sequence[Event]) -> Posted:
    """Keep events of a person and return the answer."""
    items = list(dict.fromkeys(one.item_id for one in events))
    gone = withdrawn(site.database, items)
    refused, allowed, kept = dict[str, str](), list[Event](), list[KeptEvent]()
    for one in events:
        reason = _refusal(site, person, one, gone)
        if reason:
            refused[one.client_id] = reason
        elif site.project.task == "conversation":
            # What the next event may change follows from this one.
            kept += site.database.append(person.name, [one])
        else:
            allowed.append(one)
    kept += site.database.append(person.name, allowed)
    return Posted(
        [{"client_id": one.event.client_id, "sequence": one.sequence} for one in kept],
        [{"client_id": name, "reason": reason} for name, reason in refused.items()],
        {item_id: _labels(site.database, item_id, person) for item_id in items},
        gone,
    )


def withdrawn(database: Database, items: Sequence[str]) -> dict[str, str]:
    """Return item id -> reason, for those of the items that were withdrawn."""
    found = {}
    for item_id in items:
        events = list(database.events(item_id=item_id, kinds=("withdraw",)))
        if events and events[-1].event.value is not None:
            found[item_id] = str(events[-1].event.value)
    return found


def _refusal(site: Site, person: Person, event: Event, gone: Mapping[str, str]) -> str:
    """Return why an event can never be kept; "" if it can."""
    if event.item_id not in site.project.items:
        return f"There is no item {event.item_id!r} in this project."
    if event.kind == "withdraw":
        return "Items are withdrawn by POST /withdraw alone."
    if site.project.task == "conversation":
        names = [one.name for one in site.project.scheme.questions]
        reason = refusal(site.database, person, event, names)
        if reason and not _is_kept(site.database, person, event):
            return reason
    if event.item_id not in gone or event.kind == "open" or _is_kept(site.database, person, event):
        return ""
    return f"The item was withdrawn: {gone[event.item_id]}"


def _is_kept(database: Database, person: Person, event: Event) -> bool:
    """Return whether a copy of an event came before the item was withdrawn."""
    kept = database.events(item_id=event.item_id, person=person.name)
    return any(_is_copy(one, event) for one in kept)


def _is_copy(kept: KeptEvent, event: Event) -> bool:
    return kept.event.client_id == event.client_id


def _labels(database: Database, item_id: str, person: Person) -> list[dict[str, Any]]:
    return [
        {"field": one.field, "part": one.part, "value": one.value, "sequence": one.sequence}
        for one in database.labels(item_id=item_id, person=person.name)
    ]
