"""What the numbers mean, in a paragraph each, for the reader of a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ragstone.components.metrics.parse import metric_stem, split_cutoff
from ragstone.results.record import MetricEntry

ADAPTABILITY: Final = {
    "Context acceptability": "Right with the gold passage alone, and right with the mixed context.",
    "Noise vulnerability": "Right with the gold passage alone, wrong with the mixed context. "
    "Noise: a gold passage was in the mixed context and the answer still went wrong. Miss: there "
    "was none; retrieval failed, not the reader.",
    "Context insensitivity": "Wrong without context, and still wrong when shown the gold passage.",
    "Context misinterpretation": "Right without context, wrong when shown the gold passage: the "
    "context misled the reader.",
}
"""MIRAGE's four metrics (Park et al., NAACL 2025), noise vulnerability split by cause."""

SETTINGS: Final = {
    "none": "no context: what the generator knows by heart",
    "gold": "the passages that the qrels call relevant, and nothing else",
    "gold+noise": "relevant passages among misleading ones",
    "retrieved": "what the system itself retrieved",
    "gold+retrieved": "the relevant passages kept within what the system retrieved",
}


def metric_definitions(metrics: Iterable[MetricEntry]) -> list[tuple[str, str]]:
    """Return (name, paragraph) for each family of metrics, in order.

    >>> metric_definitions([MetricEntry("R@5", "ranking", description="Recall.")])
    [('R@k', 'Recall.')]
    """
    found: dict[str, str] = {}
    for metric in metrics:
        name, cutoff = split_cutoff(metric.name)
        shown = f"{name}@k" if cutoff is not None else name
        found.setdefault(shown, metric.description or "See the metric's own documentation.")
    return list(found.items())


def setting_meaning(setting: str) -> str:
    """Return what a setting shows the generator; empty for one that is not built in."""
    return SETTINGS.get(metric_stem(setting), "")
