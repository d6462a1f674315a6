"""Notes on an experiment before it spends anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.experiment.data_notes import data_notes
from ragstone.experiment.independence import independence_notes
from ragstone.experiment.repeats import repeat_notes
from ragstone.experiment.training_leaks import trained_parts
from ragstone.results.trained_parts import trained_sentences

if TYPE_CHECKING:
    from ragstone.components.metrics.repeated import RepeatMetric
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.plan import PlannedStep
    from ragstone.experiment.system import SharedInputs, System


def run_notes(
    steps: Sequence[PlannedStep],
    systems: Sequence[System],
    shared: SharedInputs,
    dataset: Dataset,
    repeated: Sequence[RepeatMetric],
) -> tuple[str, ...]:
    """Return the notes of a run or a plan on data, models and repeats.

    Args:
        steps: the planned steps.
        systems: the systems.
        shared: the queries and judges of the experiment.
        dataset: the whole data set.
        repeated: the metrics of repeats.
    """
    return (
        *trained_sentences(trained_parts(systems, shared, dataset)),
        *data_notes(steps, systems, dataset),
        *repeat_notes(systems, shared.judges, repeated),
        *independence_notes(steps, systems, dataset.queries),
    )
