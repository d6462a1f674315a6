"""What a judge is shown, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.types import Prediction, Query, Status, Task


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to judge: a query with its history and gold answers, an answer, passages."""

    query: Query
    answer: str | None = ""
    """None where the system failed."""
    passages: tuple[str, ...] = ()
    """The context as the generator was shown it."""
    other: str = ""
    """Another system's answer, for a judge that compares two."""
    problem: str = ""
    """Why there is no answer."""

    @property
    def item_id(self) -> str:
        """The query's id, which its verdict carries."""
        return self.query.query_id

    @classmethod
    def of(cls, task: Task, prediction: Prediction) -> Item:
        """Return the item that an answer of an experiment is."""
        shown = tuple(passage.text for passage in task.context.passages)
        return cls(task.query, prediction.answer, shown, problem=prediction.reason)


@dataclass(frozen=True, slots=True)
class Cost:
    """What the calls for one item came to."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def __add__(self, more: Cost) -> Cost:
        """Return the sum of both."""
        return Cost(
            self.calls + more.calls,
            self.tokens_in + more.tokens_in,
            self.tokens_out + more.tokens_out,
            self.seconds + more.seconds,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one item: a value, or the reason why there is none."""

    item_id: str
    value: float | None = None
    """From 0 to 1."""
    label: str = ""
    """The verdict in words, where the judge gives one of a few."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Further values from the same replies: metric -> value."""
    status: Status = "scored"
    reason: str = ""
    """Why there is no value; or what a reader should know of it."""
    values: tuple[float | None, ...] = ()
    """The value of each single reply, repeat by repeat, model by model."""
    read_at_once: bool = True
    """Whether every first reply could be read, without asking again."""
    cost: Cost = field(default_factory=Cost)

    @classmethod
    def not_asked(cls, item: Item, reason: str, value: float | None = None) -> Verdict:
        """Return the verdict on an item that needs no judge: `value`, or not applicable."""
        status: Status = "not_applicable" if value is None else "scored"
        return cls(item.item_id, value, status=status, reason=reason)
