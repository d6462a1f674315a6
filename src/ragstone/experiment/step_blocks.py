"""Computing a step: in blocks of queries, so that it needs the memory of one block."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ragstone.core import limits
from ragstone.core.query_rows import blocks_by_query
from ragstone.core.schemas import SCORES, joined, to_table, uniform_predictions
from ragstone.core.step_notes import most_frequent
from ragstone.core.stored_table import StoredTable
from ragstone.core.user_code import is_ours
from ragstone.experiment.block_work import BlockWork, Tally
from ragstone.experiment.score_work import ScoreWork
from ragstone.experiment.sent_blocks import SentBlocks
from ragstone.experiment.steps import SHARED_INPUTS, Result, Step

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.core.component import Component
    from ragstone.core.store import Store
    from ragstone.protocols import Services


def run_step(
    step: Step, inputs: Mapping[str, StoredTable], store: Store, services: Services
) -> StoredTable:
    """Return the stored result of a step, computed if the store has none."""
    tally, sent = Tally(), SentBlocks.of(step, inputs, store, services)

    def work(_: object, **tables: StoredTable) -> Iterator[Table]:
        with services.calls.counted() as counted:
            yield from result_blocks(step, tables, services, tally, sent)
        used = counted.usage
        tally.facts |= {"kept_from": counted.kept_from} if counted.kept_from else {}
        tally.facts |= {"calls": dataclasses.asdict(used)} if used.asked or used.kept else {}

    stored = store.get_or_compute(step.name, step.component, inputs, work, facts=tally.to_dict)
    if sent is not None:
        sent.remove_shards()
    return stored


def compute(step: Step, tables: Mapping[str, Table], services: Services) -> Result:
    """Return the result of a step for its input tables, in memory."""
    tally = Tally()
    given = {name: StoredTable("", memory=table) for name, table in tables.items()}
    (first, *others) = result_blocks(step, given, services, tally)
    table = joined((first, *others), first.schema) if others else first
    reasons = most_frequent(tally.reasons)
    return Result(table, tally.failed, reasons, tally.beside)


def result_blocks(
    step: Step,
    tables: Mapping[str, StoredTable],
    services: Services,
    tally: Tally,
    sent: SentBlocks | None = None,
) -> Iterator[Table]:
    """Yield the result of a step, by blocks of queries if its component allows that.

    With `sent`, the workers of an executor compute the blocks.
    """
    by_query = {name: given for name, given in tables.items() if name not in SHARED_INPUTS}
    if step.kind.in_columns:
        shared_tables = {name: tables[name].table for name in tables.keys() & SHARED_INPUTS}
        scores = step.kind.apply(step.component, services, **shared_tables)
        given = _blocks(step.component, by_query)
        if sent is None:
            for block in given:
                scores.add_tables(**block)
        else:
            for found_rows in sent.results(given, tables, ScoreWork(scores), tally):
                scores.add_rows(found_rows)
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
    shared = {name: tables[name].table for name in tables.keys() & SHARED_INPUTS}
    work = BlockWork(step, shared, services)
    blocks = _blocks(step.component, by_query)
    made: Iterator[Table] = (
        (work.result(block, tally) for block in blocks)
        if sent is None
        else sent.results(blocks, tables, work, tally)
    )
    # The columns of predictions depend on what a system reports.
    yield from uniform_predictions(made) if step.name == "generate" else made


def _blocks(
    component: Component, tables: Mapping[str, StoredTable]
) -> Iterable[Mapping[str, Table]]:
    """Return the rows in blocks of queries; your own component gets all rows at once."""
    size = limits.MODEL_BLOCK_QUERIES if component.cost(1, 1) else limits.BLOCK_QUERIES
    divisible = is_ours(type(component)) and not component.takes_all_items
    large = divisible and next(iter(tables.values())).num_rows > size
    found = blocks_by_query(tables, size) if large else None
    return found or [{name: given.table for name, given in tables.items()}]
