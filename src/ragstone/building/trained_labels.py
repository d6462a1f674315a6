"""Labelling queries by a classifier of your own (`ragstone train judge`), without model calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ragstone.components.judges.trained import Trained
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.protocols import Services


@dataclass(frozen=True)
class TrainedLabeller:
    """Gives each query one of the labels that the classifier learnt.

    Args:
        model: the output folder of the training.
    """

    model: str

    example_tokens = 0
    examples = ()

    @cached_property
    def judge(self) -> Trained:
        """The classifier as a judge."""
        return Trained(model=self.model)

    @property
    def taxonomy_name(self) -> str:
        """The name of the label that was learnt."""
        return self.judge.facts.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in order."""
        return self.judge.facts.labels

    def without_call(self, item: Item) -> Verdict:
        """Return a verdict: no item needs a call."""
        return Verdict.settled(item, "the classifier runs in this process")

    def verdicts(self, items: Sequence[Item], services: Services) -> list[Verdict]:
        """Return one verdict per item, in order."""
        self.judge.check(services)
        return self.judge.verdicts(items, services)
