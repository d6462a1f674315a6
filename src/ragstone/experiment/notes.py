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
    from ragstone.experiment.experiment import Experiment
    from ragstone.experiment.plan import PlannedStep


def run_notes(experiment: Experiment, steps: Sequence[PlannedStep]) -> tuple[str, ...]:
    """Return what a run or a plan says about data, models and repeats."""
    systems, judges, dataset = experiment.systems, experiment.judges, experiment.dataset
    trained = trained_parts(systems, experiment.shared, dataset)
    return (
        *trained_sentences(trained),
        *data_notes(steps, systems, dataset),
        *repeat_notes(systems, judges, experiment.metrics[2].metrics),
        *independence_notes(steps, systems, dataset.queries),
    )
