"""Items that an active server drew: their probabilities are events, which survive a restart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ragstone.data.readers.ratings import Inclusion

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.events import KeptEvent
    from ragstone.annotation.items import AnnotationItem


def inclusions(draws: Iterable[KeptEvent]) -> dict[str, Inclusion]:
    """Return item id -> how the item was drawn, of the events of draws."""
    values = {one.event.item_id: one.event.value for one in draws}
    return {
        item_id: Inclusion(value["inclusion_probability"], value["round"])
        for item_id, value in values.items()
    }


def with_draws(
    items: Mapping[str, AnnotationItem], database: Database
) -> dict[str, AnnotationItem]:
    """Return the items of a project, those that were drawn with their probabilities."""
    drawn = inclusions(database.events(kinds=("draw",)))
    return {
        item_id: replace(item, inclusion=drawn[item_id]) if item_id in drawn else item
        for item_id, item in items.items()
    }
