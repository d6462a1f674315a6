"""How far a project is: items by state, labels per person and day, and the time that is left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from ragstone.annotation.disagreements import disagreement_size

if TYPE_CHECKING:
    from ragstone.annotation.agreement import PeopleAgreement
    from ragstone.annotation.label_columns import ItemWork, LabelColumns, QuestionColumns

_PACE_DAYS: Final = 7
"""Days with finished items from which the pace is computed, the last ones."""


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """The progress of one person."""

    name: str
    items: int
    """Items with all required labels."""
    skipped: int
    labels: int
    median_seconds: float | None
    last_day: str
    equal: float | None
    """Share of other people's labels that are equal to this person's."""
    compared: int
    """Pairs of labels in `equal`."""


@dataclass(frozen=True, slots=True)
class DayProgress:
    """The progress of all people on one day (UTC)."""

    day: str
    labels: int
    items: int
    """Finished items, counted per person."""
    people: int


@dataclass(frozen=True, slots=True)
class ProjectProgress:
    """The state of a project's items, its people and its days."""

    people_per_item: int
    done: int
    """Items that as many people finished as the project wants."""
    begun: int
    skipped: int
    """Items that people skipped and nobody labelled."""
    open: int
    withdrawn: int
    disagreeing: int
    """Items with labels that disagree, whatever their state."""
    labels: int
    people: tuple[PersonProgress, ...]
    days: tuple[DayProgress, ...]
    """The last day first."""
    median_seconds: float | None
    left: int
    """Items that people must still finish, counted per person."""
    per_day: float | None
    """Finished items per day, over the last days with a finished item."""

    @property
    def items(self) -> int:
        """Items in the project, without those that were withdrawn."""
        return self.done + self.begun + self.skipped + self.open

    @property
    def hours_left(self) -> float | None:
        """The time of people that is left at the median time per item."""
        return None if self.median_seconds is None else self.left * self.median_seconds / 3600

    @property
    def days_left(self) -> float | None:
        """Days that are left at the present pace."""
        return self.left / self.per_day if self.per_day else None


def progress_of(
    columns: LabelColumns, people_per_item: int, agreements: Sequence[PeopleAgreement]
) -> ProjectProgress:
    """Return how far a project is."""
    finished: Counter[str] = Counter()
    touched: set[str] = set()
    skipped: set[str] = set()
    for (item_id, _), work in columns.work.items():
        finished[item_id] += work.done
        (skipped if work.skipped else touched).add(item_id)
    done = sum(count >= people_per_item for count in finished.values())
    days = tuple(_days(columns))
    pace = [one.items for one in days if one.items][:_PACE_DAYS]
    counts = [min(finished[item_id], people_per_item) for item_id in columns.items]
    only_skipped = len(skipped - touched - {key for key, count in finished.items() if count})
    begun = len(touched | skipped) - only_skipped - done
    return ProjectProgress(
        people_per_item=people_per_item,
        done=done,
        begun=begun,
        skipped=only_skipped,
        open=len(columns.items) - done - begun - only_skipped,
        withdrawn=len(columns.withdrawn),
        disagreeing=len({key for one in columns.questions.values() for key in _disputed(one)}),
        labels=columns.days.total(),
        people=tuple(_people(columns, agreements)),
        days=days,
        median_seconds=_median(columns.work.values()),
        left=people_per_item * len(columns.items) - sum(counts),
        per_day=sum(pace) / len(pace) if pace else None,
    )


def _median(work: Iterable[ItemWork]) -> float | None:
    seconds = [one.seconds for one in work if one.done and one.seconds]
    return median(seconds) if seconds else None


def _people(
    columns: LabelColumns, agreements: Sequence[PeopleAgreement]
) -> Iterable[PersonProgress]:
    """Yield the progress of each person, by name."""
    own: dict[int, list[ItemWork]] = defaultdict(list)
    labels: Counter[int] = Counter()
    for (_, person), work in columns.work.items():
        own[person].append(work)
    for (_, person), count in columns.days.items():
        labels[person] += count
    for name, number in sorted(columns.people.items()):
        compared = [one.people.get(name, (None, 0)) for one in agreements]
        n = sum(count for _, count in compared)
        equal = sum((share or 0.0) * count for share, count in compared)
        yield PersonProgress(
            name,
            sum(one.done for one in own[number]),
            sum(one.skipped for one in own[number]),
            labels[number],
            _median(own[number]),
            max(one.day for one in own[number]),
            equal / n if n else None,
            n,
        )


def _days(columns: LabelColumns) -> Iterable[DayProgress]:
    """Yield the progress per day, the last day first."""
    labels: Counter[str] = Counter()
    people: dict[str, set[int]] = defaultdict(set)
    for (day, person), count in columns.days.items():
        labels[day] += count
        people[day].add(person)
    items = Counter(one.day for one in columns.work.values() if one.done)
    for day in sorted(labels, reverse=True):
        yield DayProgress(day, labels[day], items[day], len(people[day]))


def _disputed(columns: QuestionColumns) -> Iterable[str]:
    """Yield the items with labels that disagree, as in the list of disagreements."""
    values: Mapping[int, set[object]] = defaultdict(set)
    for cell, _, value, _ in columns.triples():
        values[cell].add(value)
    for (item_id, _), cell in columns.places.items():
        if disagreement_size(columns.question, list(values[cell])):
            yield item_id
