"""The steps in which a benchmark is made: items that enter and leave each, and reasons for losses.

    funnel = Funnel()
    mapped = funnel.keep("map", queries, lambda query: "" if query in titles else "no article")

Every rejected item has its step and its reason. Steps that call models work in batches
(`until_limit`): the items finished before a budget was spent are a valid benchmark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

from ragstone.core import limits
from ragstone.errors import LimitReached

NOT_REACHED: Final = "not reached"


class Identified(Protocol):
    """An item with an id and a text."""

    @property
    def item_id(self) -> str:
        """The id in the list of rejected items."""
        ...

    @property
    def text(self) -> str:
        """The item's text for readers, such as the text of a query."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that has an id and a text alone."""

    item_id: str
    text: str


I = TypeVar("I", bound=Identified)  # noqa: E741 - an item
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rejection:
    """An item that a step rejected."""

    item_id: str
    text: str
    stage: str
    reason: str


@dataclass
class Stage:
    """One step, with the number of items that entered and left it."""

    stage: str
    entered: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    """Reason -> items."""

    @property
    def left(self) -> int:
        """The items that the step did not reject."""
        return self.entered - self.rejected.total()


@dataclass
class Funnel:
    """The steps in order, and the rejected items.

    >>> funnel, queries = Funnel(), [Candidate("a", "Why is it?"), Candidate("b", "How?")]
    >>> [query.item_id for query in funnel.keep("screen", queries, {"b": "too short"})]
    ['a']
    >>> funnel.stages_document()
    [{'stage': 'screen', 'in': 2, 'out': 1, 'rejected': {'too short': 1}}]
    """

    stages: dict[str, Stage] = field(default_factory=dict)
    rejections: list[Rejection] = field(default_factory=list)
    partial: str = ""
    """Why the work ended early, such as a spent budget; empty if it did not."""

    def keep(
        self, stage: str, items: Iterable[I], why: Mapping[str, str] | Callable[[I], str]
    ) -> list[I]:
        """Return the items that a step does not reject.

        Args:
            stage: the name of the step; a later batch of the same step adds to its counts.
            items: the items that enter it.
            why: item id -> reason, or a function that returns the reason or "".
        """
        counts = self.stages.setdefault(stage, Stage(stage))
        kept = []
        for item in items:
            counts.entered += 1
            reason = why(item) if callable(why) else why.get(item.item_id, "")
            if not reason:
                kept.append(item)
                continue
            # A reason may quote the item after a colon: counts are by its first part.
            counts.rejected[reason.partition(": ")[0]] += 1
            self.rejections.append(Rejection(item.item_id, item.text, stage, reason))
        return kept

    def until_limit(
        self,
        stage: str,
        items: Sequence[I],
        work: Callable[[Sequence[I]], T],
        *,
        size: int | None = None,
    ) -> list[T]:
        """Return the results of `work` for batches of `size`, up to a limit that the user set.

        If a budget is spent, the items of unfinished batches are rejected as not reached, under
        `stage`, and `partial` has the reason. The same command resumes from the kept replies.
        """
        found: list[T] = []
        for start, batch in _batches(items, size or limits.BUILD_BATCH):
            try:
                found.append(work(batch))
            except LimitReached as error:
                self.partial = str(error)
                self.keep(stage, items[start:], lambda _: NOT_REACHED)
                break
        return found

    def stages_document(self) -> list[dict[str, Any]]:
        """Return the steps as plain data, the frequent reasons first."""
        return [
            {
                "stage": one.stage,
                "in": one.entered,
                "out": one.left,
                "rejected": dict(one.rejected.most_common()),
            }
            for one in self.stages.values()
        ]


def _batches(items: Sequence[I], size: int) -> Iterator[tuple[int, list[I]]]:
    rest, start = iter(items), 0
    while batch := list(islice(rest, size)):
        yield start, batch
        start += len(batch)
