"""Who finished, skipped and opened which items: in memory, kept current with the events."""

from __future__ import annotations

import datetime as dt
import random
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from ragstone.annotation.database import SKIPPED
from ragstone.annotation.disagreements import withdrawn_items
from ragstone.annotation.done import is_done, right_labels
from ragstone.annotation.items import AGAIN, base_id
from ragstone.web import limits

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.events import GivenLabel, KeptEvent
    from ragstone.annotation.project import Project
    from ragstone.data.readers.ratings import Inclusion

_Any = TypeVar("_Any")
ItemState: TypeAlias = Literal["done", "skipped"]
REPEAT_AFTER: Final = 20
"""Items that a person finishes before an item comes a second time."""
_KINDS: Final = ("label", "skip", "undo", "open", "withdraw", "draw")


@dataclass
class PersonWork:
    """The finished and skipped items of one person."""

    states: dict[str, ItemState] = field(default_factory=dict)
    """Item id -> state, of items, qualification items and repeats."""
    finished: int = 0
    """Items done, without qualification items and repeats."""
    repeats: dict[str, int] = field(default_factory=dict)
    """Item that must come again -> number of items that were finished with it."""
    known: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Qualification item -> known labels that are right, and their number."""


class Work:
    """The state of a project's items; the `lock` is for all uses.

    The labels are read once; then only the changes by events since the last call.

    Args:
        project: the project.
        database: its database.
        active: whether people get only items that were drawn, in the order of the rounds.
        owns: returns whether a person is an owner, who may only look at the page.
        clock: returns the seconds since the epoch.
    """

    def __init__(
        self,
        project: Project,
        database: Database,
        *,
        active: bool = False,
        owns: Callable[[str], bool] = lambda _: False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.project, self.database, self.active = project, database, active
        self._clock, self._owns = clock, owns
        self.lock = threading.RLock()
        self.people: dict[str, PersonWork] = {}
        self.finishers: Counter[str] = Counter()
        """Item id -> number of people who finished it."""
        self.withdrawn: set[str] = set()
        self.drawn: dict[str, Inclusion] = {}
        """Item id -> how it was drawn, by `judge next` or by an active server."""
        self._sequence = -1
        self._claims: dict[str, dict[str, float]] = {}
        self._orders: dict[str, array[int]] = {}
        self._starts: dict[str, int] = {}
        """Person -> place in their order before which there is nothing for them."""
        self.ids: Sequence[str] = ()
        self.known_ids: Sequence[str] = ()

    def of(self, person: str) -> PersonWork:
        """Return the work of a person."""
        return self.people.setdefault(person, PersonWork())

    # Current state

    def refresh(self) -> None:
        """Take in the events since the last call."""
        if self._sequence < 0:
            self._load()
        touched: dict[tuple[str, str], None] = {}
        sequence = self._sequence
        for kept in self.database.events(after=sequence, kinds=_KINDS):
            sequence, event = kept.sequence, kept.event
            match event.kind:
                case "open":
                    self._opened(kept)
                case "draw":
                    self._draw()
                case "withdraw":
                    self._withdraw()
                case _:
                    if event.item_id in self.withdrawn:
                        self._withdraw()  # an undo takes it back
                    touched[event.item_id, kept.person] = None
                    if event.kind == "undo" and event.item_id in self.withdrawn:
                        self._withdraw()
        for item_id, person in touched:
            self._apply(item_id, person, list(self.database.labels(item_id=item_id, person=person)))
        # If the database fails before this, the next call takes in the same events.
        self._sequence = sequence

    def _load(self) -> None:
        items = self.project.items
        self.ids = [item_id for item_id, item in items.items() if not item.known]
        self.known_ids = [item_id for item_id, item in items.items() if item.known]
        found: list[tuple[int, str, str, list[GivenLabel]]] = []
        labels = self.database.labels()
        for (item_id, person), given in groupby(labels, lambda one: (one.item_id, one.person)):
            held = list(given)
            found.append((max(one.sequence for one in held), item_id, person, held))
        # In the order in which people finished the items: repeats count from there.
        for _, item_id, person, held in sorted(found, key=lambda one: one[0]):
            self._apply(item_id, person, held)
        self._withdraw()
        self.drawn = {one.item_id: one.inclusion for one in items.values() if one.inclusion}
        self._draw()
        for kept in self.database.events(kinds=("open",)):
            self._opened(kept)
        self._sequence = max((sequence for sequence, *_ in found), default=0)

    def _draw(self) -> None:
        self.drawn |= self.database.draws()
        if self.active:
            self._orders.clear()
            self._starts.clear()

    def _withdraw(self) -> None:
        self.withdrawn = withdrawn_items(self.database)
        self._starts.clear()

    def _opened(self, kept: KeptEvent) -> None:
        opened = dt.datetime.fromisoformat(kept.received).timestamp()
        self.claim(kept.event.item_id, kept.person, opened)

    def _apply(self, item_id: str, person: str, labels: Sequence[GivenLabel]) -> None:
        """Take in the labels that a person gave an item."""
        item = self.project.items.get(base_id(item_id))
        if item is None:
            return
        mine = self.of(person)
        before, after = mine.states.get(item_id), self._state(item_id, labels)
        if item.known and after:
            mine.known[item_id] = right_labels(self.project.scheme, item, labels)
        if before == after:
            return
        if after is None:
            del mine.states[item_id]
            mine.known.pop(item_id, None)
            self._starts.pop(person, None)
            self.claim(item_id, person)
        else:
            mine.states[item_id] = after
            self._claims.get(item_id, {}).pop(person, None)
        if not item.known and item_id == item.item_id:
            self._count(item_id, person, (after == "done") - (before == "done"))

    def _state(self, item_id: str, labels: Sequence[GivenLabel]) -> ItemState | None:
        if is_done(self.project.scheme, self.project.items[base_id(item_id)], labels):
            return "done"
        return "skipped" if any(one.field == SKIPPED for one in labels) else None

    def _count(self, item_id: str, person: str, more: int) -> None:
        """Count an item that a person finished (1), or no longer has finished (-1)."""
        mine = self.of(person)
        mine.finished += more
        self.finishers[item_id] += more
        if more < 0:
            mine.repeats.pop(item_id, None)
            self._starts.clear()
        elif more and self._comes_again(item_id, person):
            mine.repeats[item_id] = mine.finished

    def _comes_again(self, item_id: str, person: str) -> bool:
        settings = self.project.settings
        if not settings.repeats:
            return False
        drawn = random.Random(f"{settings.seed}\n{person}\n{item_id}").random()  # noqa: S311
        return drawn < settings.repeats

    # Claims

    def claim(self, item_id: str, person: str, since: float | None = None) -> None:
        """Record that a person has an item open, except an owner who has finished nothing."""
        ends, states = self._clock() if since is None else since, self.of(person).states
        ends += 60 * limits.CLAIM_MINUTES
        if ends <= self._clock() or item_id in states:
            return
        if states or not self._owns(person):
            self._claims.setdefault(item_id, {})[person] = ends

    def claimed(self, item_id: str, person: str) -> int:
        """Return at how many other people an item is open."""
        held = self._claims.get(item_id)
        if not held:
            return 0
        now = self._clock()
        for other in [name for name, ends in held.items() if ends <= now]:
            del held[other]
        return len(held) - (person in held)

    # Items that a person may get

    def open_items(self, person: str) -> Iterator[str]:
        """Yield the items that a person may get, in this person's order.

        An item that enough other people have open is left out, until they finish or leave it.
        """
        order, start = self._order(person), self._starts.get(person, 0)
        states = self.of(person).states
        while start < len(order) and self._is_over(self.ids[order[start]], states):
            start += 1
        self._starts[person] = start
        for place in range(start, len(order)):
            item_id = self.ids[order[place]]
            if not self._is_over(item_id, states) and self.is_free(item_id, person):
                yield item_id

    def is_free(self, item_id: str, person: str) -> bool:
        """Whether an item can be given to one more person."""
        needed = self.project.settings.people_per_item
        return self.finishers[item_id] + self.claimed(item_id, person) < needed

    def left(self, person: str) -> int:
        """Return the number of items that a person may still get, if nobody else takes them."""
        states, order = self.of(person).states, self._order(person)
        return sum(not self._is_over(self.ids[place], states) for place in order)

    def open_known(self, person: str) -> list[str]:
        """Return the qualification items that a person has not finished or skipped."""
        states = self.of(person).states
        found = [one for one in self.known_ids if one not in states and one not in self.withdrawn]
        return self._shuffled(found, person, "known")

    def open_repeats(self, person: str, *, due: bool) -> list[str]:
        """Return the ids of the items that come to a person again, those that are `due` or not."""
        mine = self.of(person)
        return [
            f"{item_id}{AGAIN}"
            for item_id, finished in mine.repeats.items()
            if f"{item_id}{AGAIN}" not in mine.states
            and item_id not in self.withdrawn
            and (mine.finished - finished >= REPEAT_AFTER) == due
        ]

    def _is_over(self, item_id: str, states: dict[str, ItemState]) -> bool:
        return (
            item_id in states
            or self.finishers[item_id] >= self.project.settings.people_per_item
            or item_id in self.withdrawn
        )

    def _order(self, person: str) -> array[int]:
        """Return the places of the items in the order of a person."""
        if person not in self._orders:
            found = self._shuffled(range(len(self.ids)), person, "")
            if self.active:
                found = self._by_round(found)
            self._orders[person] = array("I", found)
        return self._orders[person]

    def _by_round(self, shuffled: Iterable[int]) -> list[int]:
        """Return the places of the drawn items, round by round, those of a query together."""
        ids, items = self.ids, self.project.items
        drawn = [place for place in shuffled if ids[place] in self.drawn]
        first: dict[str, int] = {}
        for number, place in enumerate(drawn):
            first.setdefault(items[ids[place]].query.query_id, number)

        def order(place: int) -> tuple[int, int]:
            item_id = ids[place]
            return self.drawn[item_id].round, first[items[item_id].query.query_id]

        return sorted(drawn, key=order)

    def _shuffled(self, held: Sequence[_Any], person: str, what: str) -> list[_Any]:
        found, settings = list(held), self.project.settings
        if settings.order == "per_person" or self.active:
            random.Random(f"{settings.seed}\n{person}\n{what}").shuffle(found)  # noqa: S311
        return found
