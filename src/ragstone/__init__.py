"""Ragstone measures retrieval-augmented generation: how good it is, why it fails, what is real.

>>> import ragstone
>>> experiment = ragstone.load_experiment("examples/demo.yaml")  # doctest: +SKIP
>>> experiment.run().report("report.html")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ragstone.comparison import compare
    from ragstone.datasets.loading import load_dataset
    from ragstone.evaluate import evaluate_answers, evaluate_run
    from ragstone.experiment import load_experiment
    from ragstone.metrics import parse_metric

_HOMES = {
    "compare": "ragstone.comparison",
    "evaluate_answers": "ragstone.evaluate",
    "evaluate_run": "ragstone.evaluate",
    "load_dataset": "ragstone.datasets.loading",
    "load_experiment": "ragstone.experiment",
    "parse_metric": "ragstone.metrics",
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
