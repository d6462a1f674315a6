"""The input and the output of a judge: an item, and the verdict on it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Final

from ragstone.core.component import Outcome, run_component
from ragstone.protocols import Judge, Services
from ragstone.text.cited_sentences import cited_sentences
from ragstone.types import Context, ContextPassage, Prediction, Query, Score, Status, Task

VERDICTS_MISSING: Final = "verdicts are missing"
"""Part of the reason of a verdict by the replies of only some of its models or repeats."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item to judge: a query with its history and gold answers, an answer, passages."""

    query: Query
    answer: str | None = ""
    """None if the system failed."""
    passages: tuple[str, ...] = ()
    """The context of the answer, as it was in the generator's prompt."""
    other: str = ""
    """Another system's answer, for a judge that compares two."""
    problem: str = ""
    """Why there is no answer."""
    reported: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    """The answer's sentences and the citations of each, if the system reports them."""

    @property
    def sentences(self) -> Sequence[tuple[str, tuple[int, ...]]]:
        """The sentences of the answer with the numbers (from 1) of the passages that each cites."""
        return cited_sentences(self.answer or "") if self.reported is None else self.reported

    @property
    def item_id(self) -> str:
        """The query's id, which is also in the verdict."""
        return self.query.query_id

    @property
    def gold(self) -> str:
        """The first gold answer; "" if there is none."""
        return next(iter(self.query.gold_answers), "")

    @property
    def task(self) -> Task:
        """The query and its context, for a judge of your own."""
        numbered = enumerate(self.passages, start=1)
        shown = tuple(ContextPassage(str(n), text, "retrieved") for n, text in numbered)
        return Task(self.query, Context(self.item_id, "", shown))

    @property
    def prediction(self) -> Prediction:
        """The answer, for a judge of your own."""
        return Prediction(self.item_id, self.answer, self.problem)


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls, tokens and seconds of the calls for one item."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def __add__(self, more: Cost) -> Cost:
        """Return the sum of both."""
        return Cost(*map(operator.add, astuple(self), astuple(more)))


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on one item: a value, or the reason why there is none."""

    item_id: str
    value: float | None = None
    """A number from 0 to 1."""
    label: str = ""
    """The verdict in words, if the judge chooses among a few."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Metric -> value, for further values from the same replies."""
    status: Status = "scored"
    reason: str = ""
    """Why there is no value, or a remark on the value."""
    values: tuple[float | None, ...] = ()
    """The value of each single reply, repeat by repeat, model by model."""
    read_at_once: bool = True
    """Whether every first reply could be read."""
    cost: Cost = field(default_factory=Cost)
    asked: bool = True
    """Whether the judge was needed; False if the item was settled without a call."""
    retry: bool = False
    """Whether a call failed or its reply was unreadable, so that the next run repeats it."""
    unreadable: bool = False
    """Whether a reply has no verdict in it, which shows how well the model follows the format."""

    @property
    def lost(self) -> bool:
        """Whether there is no value because a call failed; the next run repeats the call."""
        return self.retry and self.value is None and not self.unreadable

    @classmethod
    def settled(cls, item: Item, reason: str, value: float | None = None) -> Verdict:
        """Return the verdict on an item that needs no judge: `value`, or not applicable."""
        status: Status = "not_applicable" if value is None else "scored"
        return cls(item.item_id, value, status=status, reason=reason, asked=False)

    @classmethod
    def failed(cls, item: Item, reason: str) -> Verdict:
        """Return the verdict on an item that could not be judged."""
        return cls(item.item_id, status="failed", reason=reason)


class VerdictJudge(Judge):
    """A judge that gives verdicts on items, which become scores."""

    uses = frozenset({"gold_answers", "labels"})

    def verdicts(self, items: Sequence[Item], services: Services) -> list[Verdict]:
        """Return one verdict per item, in order."""
        raise NotImplementedError

    def judge(
        self, tasks: Sequence[Task], predictions: Sequence[Prediction], services: Services
    ) -> Iterator[Outcome[Sequence[Score]]]:
        """Yield the scores of each prediction, one per metric of the judge."""
        items = []
        for task, prediction in zip(tasks, predictions, strict=True):
            shown = tuple(passage.text for passage in task.context.passages)
            why, cited = prediction.reason, prediction.sentences
            items.append(Item(task.query, prediction.answer, shown, problem=why, reported=cited))
        for verdict in self.verdicts(items, services):
            reason = verdict.reason if verdict.retry else ""
            yield Outcome(self.scored(verdict), reason, retry=verdict.retry)

    def scored(self, verdict: Verdict) -> tuple[Score, ...]:
        """Return one score per metric; a part that the verdict does not have is not applicable."""
        values = {str(self): verdict.value, **verdict.parts}
        missing = "not_applicable" if verdict.status == "scored" else verdict.status
        found = [(metric, values.get(metric)) for metric in self.metrics]
        return tuple(
            Score(verdict.item_id, metric, v, missing if v is None else "scored", verdict.reason)
            for metric, v in found
        )


def verdicts_of(judge: Judge, items: Sequence[Item], services: Services) -> list[Verdict]:
    """Return one verdict per item; a judge of your own gives its first score."""
    if isinstance(judge, VerdictJudge):
        return judge.verdicts(items, services)
    tasks, predictions = [item.task for item in items], [item.prediction for item in items]
    outcomes = run_component(judge, services, tasks, predictions)
    found = []
    for item, outcome in zip(items, outcomes, strict=True):
        first, *rest = judge.scores_of(item.item_id, outcome)
        parts = {score.metric: score.value for score in rest if score.value is not None}
        given = {"status": first.status, "reason": first.reason, "retry": outcome.retry}
        found.append(Verdict(item.item_id, first.value, parts=parts, **given))
    return found
