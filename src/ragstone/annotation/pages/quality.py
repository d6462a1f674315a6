"""The page of the quality of each person's labels, for the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation.quality import HASTY_SECONDS, ComparedLabels, PersonQuality, quality
from ragstone.annotation.site import Document, Site, SitePage, Visit
from ragstone.web import limits

if TYPE_CHECKING:
    from ragstone.annotation.schemes import Scheme

_KAPPA_LABELS: Final = 10
"""Labels from which on a kappa is shown: it is mostly noise with fewer."""


def quality_document(site: Site, visit: Visit) -> Document:
    """Return the quality of each person, by name."""
    found = quality(site.project, site.database)
    start = visit.query.number("from", 0, most=max(0, len(found)))
    needed = site.project.settings.qualification
    return {
        "people": [
            {
                **_row(site.project.scheme, one),
                "is_qualified": _is_qualified(one, needed),
            }
            for one in found[start : start + limits.VIEW_ROWS]
        ],
        "total": len(found),
        "from": start,
        "qualification": needed,
        "failed": [one.person for one in found if _is_qualified(one, needed) is False],
        "known_items": sum(bool(item.known) for item in site.project.items.values()),
        "repeats": site.project.settings.repeats,
        "hasty_seconds": HASTY_SECONDS,
        "kappa_labels": _KAPPA_LABELS,
    }


def _is_qualified(one: PersonQuality, needed: float | None) -> bool | None:
    """Return if a person has enough known labels right; None if there is no rule or no label."""
    if needed is None or one.known.value is None:
        return None
    return one.known.value >= needed


def _row(scheme: Scheme, one: PersonQuality) -> dict[str, Any]:
    return {
        "person": one.person,
        "labelled": one.items,
        "labels": one.labels,
        "seconds": one.seconds,
        "timed": one.timed,
        "known": one.known,
        "others": [_compared(scheme, found) for found in one.others if found.same.n],
        "repeats": [_compared(scheme, found) for found in one.repeats if found.same.n],
        "skips": one.skips,
        "hasty": one.hasty,
    }


def _compared(scheme: Scheme, found: ComparedLabels) -> dict[str, Any]:
    """Return a comparison; the question has its name if there are several."""
    name = found.question if len(scheme.questions) > 1 else ""
    return {"question": name, "same": found.same, "kappa": found.kappa}


QUALITY: Final = SitePage(
    "/quality",
    "Quality of each person",
    "quality.html",
    quality_document,
    "Quality",
    roles=("owner",),
    tasks=("labels", "support", "ratings", "pairwise", "nuggets", "causes", "validation"),
)
