"""Which items a person gets, in which order, and how many are left.

1. Qualification items, until the person finished or skipped all of them.
2. Items that come a second time, 20 items after the first time or later.
3. Items that fewer than `people_per_item` people finished or have open, in this person's order.
4. The other items that come a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragstone.annotation.active import draw_round
from ragstone.statistics.proportions import Proportion, proportion
from ragstone.web import limits

if TYPE_CHECKING:
    from ragstone.annotation.site import Site
    from ragstone.annotation.work import Work

StandingState: TypeAlias = Literal["open", "qualifying", "failed", "waiting", "finished"]
"""open: there are items; qualifying: items with known labels come first; failed: too few of them
are right; waiting: other people have the last items open; finished: nothing is left."""


@dataclass(frozen=True, slots=True)
class PersonStanding:
    """A person's progress and next step."""

    state: StandingState
    finished: int
    """Items, without qualification items and repeats."""
    skipped: int
    left: int
    """Items that the person may still get, with qualification items and repeats."""
    qualification: Proportion | None
    """Share of the known labels that the person has right; None if no rule asks for it."""
    said: str = ""
    """Why there is no item for the person; empty if there is one."""


def next_items(site: Site, person: str, count: int) -> list[str]:
    """Return the ids of the next items of a person.

    The first ones are reserved for this person, so that others do not get them. An id may be
    that of a repeat: `base_id` returns the item's own.
    """
    work = site.work
    with work.lock:
        work.refresh()
        found = list(islice(_offered(site, person), count))
        for item_id in found[: limits.CLAIMED_ITEMS]:
            work.claim(item_id, person)
        return found


def items_left(site: Site, person: str) -> int:
    """Return the number of items that a person could get now; none is noted as open."""
    work = site.work
    with work.lock:
        work.refresh()
        return sum(1 for _ in _offered(site, person))


def standing(site: Site, person: str) -> PersonStanding:
    """Return a person's progress and next step."""
    work = site.work
    with work.lock:
        work.refresh()
        mine, share = work.of(person), _qualification(site, person)
        state = _state(site, person)
        skipped = sum(one == "skipped" for one in mine.states.values())
        again = [one for due in (True, False) for one in work.open_repeats(person, due=due)]
        left = 0 if state == "failed" else work.left(person) + len(again)
        left += len(work.open_known(person))
        said = _said(site, state, share)
        return PersonStanding(state, mine.finished, skipped, left, share, said)


def _offered(site: Site, person: str) -> Iterator[str]:
    work = site.work
    known = work.open_known(person)
    yield from known
    if site.project.settings.qualification is not None and (
        known or not _is_qualified(site, person)
    ):
        return
    yield from work.open_repeats(person, due=True)
    yield from _open_items(site, person)
    yield from work.open_repeats(person, due=False)


def _open_items(site: Site, person: str) -> Iterator[str]:
    """Yield the items for a person; if there is none, an active server draws others."""
    found = list(islice(site.work.open_items(person), 1))
    if not found and site.active and draw_round(site.project, site.database, site.work):
        site.work.refresh()
    yield from site.work.open_items(person)


def _qualification(site: Site, person: str) -> Proportion | None:
    """Return the share of the known labels that a person has right, of the items so far."""
    if site.project.settings.qualification is None:
        return None
    held = site.work.of(person).known.values()
    return proportion(sum(right for right, _ in held), sum(n for _, n in held))


def _is_qualified(site: Site, person: str) -> bool:
    share, needed = _qualification(site, person), site.project.settings.qualification
    if share is None or needed is None:
        return True
    return share.value is not None and share.value >= needed


def _state(site: Site, person: str) -> StandingState:
    work: Work = site.work
    if site.project.settings.qualification is not None:
        if work.open_known(person):
            return "qualifying"
        if not _is_qualified(site, person):
            return "failed"
    if next(_offered(site, person), None) is not None:
        return "open"
    return "waiting" if work.left(person) else "finished"


def _said(site: Site, state: StandingState, share: Proportion | None) -> str:
    """Return why there is no item for a person."""
    needed = site.project.settings.qualification
    match state:
        case "failed" if share is not None and share.n == 0:
            return (
                "The project asks for a qualification, but none of its items has known labels. "
                "The owner can add `known` labels to items, or remove `qualification`."
            )
        case "failed" if share is not None and needed is not None:
            return (
                f"{share.count} of {share.n} labels of the qualification are right; the project "
                f"asks for {needed:.0%}. Ask the owner of the project."
            )
        case "waiting":
            return "Other people have the last items open. Come back in a few minutes."
        case "finished":
            return "Nothing is left for you. Thank you."
    return ""
