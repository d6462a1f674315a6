"""Which items a person gets, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.annotation.site import Site


def next_items(site: Site, person: str, count: int) -> list[str]:
    """Return the ids of the next items of a person that are open, in this person's order."""
    done = {one.item_id for one in site.database.labels(person=person)}
    return [item_id for item_id in site.project.items if item_id not in done][:count]
