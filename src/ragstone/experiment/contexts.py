"""The contexts of an experiment without its answers, such as those that a model is trained on."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ragstone.core.schemas import table_to_contexts, table_to_queries
from ragstone.experiment.step_work import StepWork
from ragstone.types import Task

if TYPE_CHECKING:
    from ragstone.experiment.experiment import Experiment


def tasks_under(
    experiment: Experiment, setting: str, query_ids: Collection[str]
) -> dict[str, Task]:
    """Return query id -> the query with its context, of the experiment's only system.

    Queries that the setting does not apply to are left out. Rankings and contexts are kept in the
    experiment's store.
    """
    part = experiment.of_queries(query_ids)
    (trial,) = (one for one in part.steps().trials if one.setting.setting == setting)
    asked = table_to_queries(part.shared.asked(setting).table)
    queries = {query.query_id: query for query in asked}
    with part.open_calls() as calls:
        contexts = StepWork(part.services(calls), part.store).table(trial.contexts)
    return {one.query_id: Task(queries[one.query_id], one) for one in table_to_contexts(contexts)}
