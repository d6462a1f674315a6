"""Notes of components on the data before a run: texts that are unreadable or absent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ragstone.components.context_settings.gold_injected import GoldInjected
from ragstone.components.metrics.row_checks import LABEL
from ragstone.core.component import Component
from ragstone.data.languages import language_notes
from ragstone.data.readers.parallel import parallel_ids
from ragstone.errors import MissingDependency, ModelFileError
from ragstone.experiment.steps import Step

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.plan import PlannedStep
    from ragstone.experiment.system import System


def data_notes(
    steps: Iterable[PlannedStep], systems: Iterable[System], dataset: Dataset
) -> tuple[str, ...]:
    """Return the notes of the steps' components on a data set, each once.

    The search for noise takes rewrites if there are any, and has no note on them.

    A model that is not on this machine is not looked at: the run reports it.

    Raises:
        ConfigError: the data have nothing that a component reads.
    """
    checked = (
        *_unread_checks(steps, dataset),
        *_unread_attacks(steps),
        *_translated_noise(steps, dataset),
    )
    found = dict.fromkeys((*checked, *language_notes(dataset.queries)))
    unasked = dataset.select([])
    formers = [system.query_former for system in systems]
    for step in steps:
        if step.step == "form" and step.component not in formers:
            continue
        given = unasked if _reads_written(step.source) else dataset
        for part in _parts(step.component):
            with suppress(ModelFileError, MissingDependency):
                found |= dict.fromkeys(part.data_notes(given))
    return tuple(found)


def _translated_noise(steps: Iterable[PlannedStep], dataset: Dataset) -> Iterator[str]:
    """Yield a note if noise can be a translation of a gold passage."""
    searched = any(step.step == "context" and "noise" in step.component.uses for step in steps)
    if searched and not dataset.collections and parallel_ids(dataset.corpus):
        yield (
            "noise is searched in all languages, so that it can be a translation of a gold "
            "passage; give the data set 'collections: {by: language}'"
        )


def _unread_checks(steps: Iterable[PlannedStep], dataset: Dataset) -> Iterator[str]:
    """Yield a note if queries carry checks, and no metric of the answers reads them."""
    sets = [step.component for step in steps if step.step == "score-answer"]
    read = any("checks" in metric.requires for one in sets for metric in one.metrics)
    if sets and not read and any(LABEL in query.labels for query in dataset.queries):
        yield "the queries carry checks that no metric reads; add checks to 'metrics'"


def _unread_attacks(steps: Iterable[PlannedStep]) -> Iterator[str]:
    """Yield a note if attacks are planted, and no metric measures whether they succeed."""
    components = [step.component for step in steps]
    sets = [step.component for step in steps if step.step == "score-answer"]
    planted = any(isinstance(one, GoldInjected) for one in components)
    if planted and sets and not any(one.reads_attacks for one in sets):
        yield "no metric measures whether planted attacks succeed; add attack-success to 'metrics'"


def _reads_written(step: Step) -> bool:
    """Return whether a model writes the queries of a step, such as a translation."""
    inputs = (given for given in step.inputs.values() if isinstance(given, Step))
    return any(given.name == "form" and given.component.needs_model for given in inputs)


def _parts(value: Any) -> Iterator[Component]:
    """Yield a component and those that it has as parameters or made of them."""
    if isinstance(value, Component):
        yield value
        for member in vars(value).values():
            yield from _parts(member)
    elif isinstance(value, Mapping):
        yield from _parts(list(value.values()))
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _parts(member)
