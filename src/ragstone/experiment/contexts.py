"""The contexts of an experiment without its answers, such as those that a model is trained on."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ragstone.core.schemas import table_to_contexts, table_to_queries
from ragstone.experiment.step_work import StepWork
from ragstone.types import Task

if TYPE_CHECKING:
    from ragstone.experiment.experiment import Experiment


def tasks_by_setting(
    experiment: Experiment, query_ids: Collection[str]
) -> dict[str, dict[str, Task]]:
    """Return setting -> query id -> the query with its context, of the experiment's only system.

    A setting leaves out the queries that it does not apply to. Rankings and contexts are kept in
    the experiment's store.
    """
    part = experiment.of_queries(query_ids)
    with part.open_calls() as calls:
        work = StepWork(part.services(calls), part.store)
        found: dict[str, dict[str, Task]] = {}
        for trial in part.steps().trials:
            contexts = table_to_contexts(work.table(trial.contexts))
            asked = table_to_queries(part.shared.asked(trial.setting.setting).table)
            queries = {query.query_id: query for query in asked}
            found[trial.setting.setting] = {
                one.query_id: Task(queries[one.query_id], one) for one in contexts
            }
    return found
