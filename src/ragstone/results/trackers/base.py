"""The trackers by name, and their interface."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from ragstone.core.redaction import redacted_data
from ragstone.results.reader import StoredResults
from ragstone.results.trackers.tracked_run import TrackedRun, tracked_run

TRACKERS: Final[Mapping[str, str]] = {
    "mlflow": "ragstone.results.trackers.mlflow:MLflow",
    "wandb": "ragstone.results.trackers.wandb:WeightsAndBiases",
}
"""Name -> "module:Class"."""


class Tracker(Protocol):
    """An experiment tracker that was reached."""

    def log(self, run: TrackedRun) -> str:
        """Keep a run, in place of an earlier one with the same key; return where it is."""


def open_tracker(name: str) -> Tracker:
    """Return a tracker that can be reached.

    Raises:
        MissingDependency: its package is not installed.
        ConfigError: it cannot be reached; nothing was sent.
    """
    module, _, kind = TRACKERS[name].partition(":")
    tracker: Tracker = getattr(importlib.import_module(module), kind)()
    return tracker


def track(tracker: Tracker, every: Sequence[StoredResults]) -> list[str]:
    """Keep the results of experiments, without secrets, in a tracker; return where each is."""
    with tempfile.TemporaryDirectory() as folder:
        runs = (tracked_run(results, Path(folder)) for results in every)
        return [tracker.log(redacted_data(run)) for run in runs]
