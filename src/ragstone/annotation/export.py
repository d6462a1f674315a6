"""What leaves a project: labels as ratings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.annotation.database import SKIPPED
from ragstone.annotation.events import GivenLabel

if TYPE_CHECKING:
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.site import Site


def rating_lines(site: Site) -> Iterator[bytes]:
    """Yield the labels of a project as lines of the ratings form, by item, person and question."""
    items = site.project.items
    for label in site.database.labels():
        item = items.get(label.item_id)
        if item is not None and label.field != SKIPPED:
            yield orjson.dumps(_rating(item, label)) + b"\n"


def _rating(item: AnnotationItem, label: GivenLabel) -> dict[str, Any]:
    row = {
        "query_id": item.query.query_id,
        "rater": label.person,
        "property": label.field,
        "value": label.value,
        "time": label.received,
    }
    return row | ({"shown": label.shown} if label.shown else {})
