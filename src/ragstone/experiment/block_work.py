"""Computing one block of a step after another, in this process or in a worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.core.step_notes import most_frequent
from ragstone.errors import CallError, ComponentError
from ragstone.experiment.repeat_spec import of_repeat
from ragstone.experiment.steps import Result, Step, input_records

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Services


@dataclass
class Tally:
    """The facts of a step that are counted over its blocks."""

    failed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    beside: Mapping[str, Mapping[str, float]] | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        """Add the facts of a result."""
        self.failed += result.failed
        self.reasons.update(result.reasons or {})
        self.beside = result.beside

    def to_dict(self) -> dict[str, Any]:
        """Return the facts that are stored beside the step's table."""
        found = {"reasons": most_frequent(self.reasons), "beside": self.beside}
        kept = {name: fact for name, fact in found.items() if fact}
        return kept | self.facts | {"failed": self.failed}


class BlockWork:
    """A step with the tables that all of its blocks share.

    Args:
        step: the step.
        shared: the input tables that are not by query.
        services: what the component works with, before the data of the step are chosen.
    """

    def __init__(self, step: Step, shared: Mapping[str, Table], services: Services) -> None:
        self._step, self._records = step, input_records(shared)
        corpus = _corpus(shared.get("corpus"), services)
        if number := self._records.pop("repeat", 0):
            services = of_repeat(services, number, step.name)
        self._services = services.of_step(self._records.pop("qrels", {}), corpus)

    def result(self, block: Mapping[str, Table], tally: Tally) -> Table:
        """Return the rows of a block, and add its facts to the tally."""
        step, records = self._step, input_records(block) | self._records
        query_ids = [record.query_id for record in next(iter(records.values()))]
        try:
            outcomes = list(step.kind.apply(step.component, self._services, **records))
        except (CallError, ComponentError) as error:
            message = f"{step.owner}: {error}" if step.owner else str(error)
            raise error.with_message(message) from error.__cause__
        tally.reasons.update(outcome.reason for outcome in outcomes if outcome.reason)
        tally.failed += sum(outcome.retry for outcome in outcomes)
        if step.kind.to_table is None:
            raise TypeError(f"{step.name} is not computed by queries")
        return step.kind.to_table(query_ids, [outcome.value for outcome in outcomes])


def _corpus(passages: Table | None, services: Services) -> Corpus | None:
    """Return the corpus of a step, without labels if the table of its key has none."""
    if passages is None:
        return None
    corpus = services.corpus
    return corpus if "labels" in passages.column_names else corpus.unlabelled
