"""Ragstone measures retrieval-augmented generation: how good it is, why it fails, what is real.

>>> import ragstone
>>> experiment = ragstone.load_experiment("examples/demo.yaml")  # doctest: +SKIP
>>> experiment.run().report("report.html")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ragstone.version import __version__

if TYPE_CHECKING:
    from ragstone.components.metrics.parse import parse_metric
    from ragstone.data.load import load_dataset
    from ragstone.evaluation.compare import compare
    from ragstone.evaluation.score_files import evaluate_answers, evaluate_run
    from ragstone.experiment.experiment import load_experiment

_HOMES = {
    "compare": "ragstone.evaluation.compare",
    "evaluate_answers": "ragstone.evaluation.score_files",
    "evaluate_run": "ragstone.evaluation.score_files",
    "load_dataset": "ragstone.data.load",
    "load_experiment": "ragstone.experiment.experiment",
    "parse_metric": "ragstone.components.metrics.parse",
}

__all__ = [
    "__version__",
    "compare",
    "evaluate_answers",
    "evaluate_run",
    "load_dataset",
    "load_experiment",
    "parse_metric",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: importing the package loads nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ragstone' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
