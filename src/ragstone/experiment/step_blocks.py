"""Computing a step: in blocks of queries, so that it needs the memory of one block."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.core import limits
from ragstone.core.query_rows import blocks_by_query
from ragstone.core.schemas import SCORES, joined, to_table, uniform_predictions
from ragstone.core.step_notes import most_frequent
from ragstone.core.stored_table import StoredTable
from ragstone.core.user_code import is_ours
from ragstone.errors import CallError, ComponentError
from ragstone.experiment.repeat_spec import of_repeat
from ragstone.experiment.steps import SHARED_INPUTS, Result, Step, input_records

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.core.component import Component
    from ragstone.core.store import Store
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


def run_step(
    step: Step, inputs: Mapping[str, StoredTable], store: Store, services: Services
) -> StoredTable:
    """Return the stored result of a step, computed if the store has none."""
    tally = Tally()

    def work(_: object, **tables: StoredTable) -> Iterator[Table]:
        with services.calls.counted() as counted:
            yield from result_blocks(step, tables, services, tally)
        used = counted.usage
        tally.facts |= {"kept_from": counted.kept_from} if counted.kept_from else {}
        tally.facts |= {"calls": dataclasses.asdict(used)} if used.asked or used.kept else {}

    return store.get_or_compute(step.name, step.component, inputs, work, facts=tally.to_dict)


def compute(step: Step, tables: Mapping[str, Table], services: Services) -> Result:
    """Return the result of a step for its input tables, in memory."""
    tally = Tally()
    given = {name: StoredTable("", memory=table) for name, table in tables.items()}
    (first, *others) = result_blocks(step, given, services, tally)
    table = joined((first, *others), first.schema) if others else first
    reasons = most_frequent(tally.reasons)
    return Result(table, tally.failed, reasons, tally.beside)


def result_blocks(
    step: Step, tables: Mapping[str, StoredTable], services: Services, tally: Tally
) -> Iterator[Table]:
    """Yield the result of a step, by blocks of queries if its component allows that."""
    by_query = {name: given for name, given in tables.items() if name not in SHARED_INPUTS}
    if step.kind.in_columns:
        shared_tables = {name: tables[name].table for name in tables.keys() & SHARED_INPUTS}
        scores = step.kind.apply(step.component, services, **shared_tables)
        for block in _blocks(step.component, by_query):
            scores.add_tables(**block)
        tally.failed, tally.beside = scores.unscored, scores.beside
        found = scores.tables()
        yield next(found, to_table(SCORES, dict.fromkeys(SCORES.names, ())))
        yield from found
        return
    if step.kind.to_table is None:
        whole = {name: given.table for name, given in tables.items()}
        result: Result = step.kind.apply(step.component, services, **whole)
        tally.add(result)
        yield result.table
        return
    shared = input_records({name: tables[name].table for name in tables.keys() & SHARED_INPUTS})
    corpus = _corpus(tables.get("corpus"), services)
    if number := shared.pop("repeat", 0):
        services = of_repeat(services, number, step.name)
    services = services.of_step(shared.pop("qrels", {}), corpus)
    made = (
        _block(step, input_records(block) | shared, services, tally)
        for block in _blocks(step.component, by_query)
    )
    # The columns of predictions depend on what a system reports.
    yield from uniform_predictions(made) if step.name == "generate" else made


def _block(step: Step, records: Mapping[str, Any], services: Services, tally: Tally) -> Table:
    query_ids = [record.query_id for record in next(iter(records.values()))]
    try:
        outcomes = list(step.kind.apply(step.component, services, **records))
    except (CallError, ComponentError) as error:
        message = f"{step.owner}: {error}" if step.owner else str(error)
        raise error.with_message(message) from error.__cause__
    tally.reasons.update(outcome.reason for outcome in outcomes if outcome.reason)
    tally.failed += sum(outcome.retry for outcome in outcomes)
    if step.kind.to_table is None:
        raise TypeError(f"{step.name} is not computed by queries")
    return step.kind.to_table(query_ids, [outcome.value for outcome in outcomes])


def _blocks(
    component: Component, tables: Mapping[str, StoredTable]
) -> Iterable[Mapping[str, Table]]:
    """Return the rows in blocks of queries; your own component gets all rows at once."""
    size = limits.MODEL_BLOCK_QUERIES if component.cost(1, 1) else limits.BLOCK_QUERIES
    divisible = is_ours(type(component)) and not component.takes_all_items
    large = divisible and next(iter(tables.values())).num_rows > size
    found = blocks_by_query(tables, size) if large else None
    return found or [{name: given.table for name, given in tables.items()}]


def _corpus(passages: StoredTable | None, services: Services) -> Corpus | None:
    """Return the corpus of a step, without labels if the table of its key has none."""
    if passages is None:
        return None
    corpus = services.corpus
    return corpus if "labels" in passages.table.column_names else corpus.unlabelled
