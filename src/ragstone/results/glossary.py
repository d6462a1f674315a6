"""Definitions of metrics and settings for the reader of a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ragstone.components.metrics.parse import metric_stem, split_cutoff
from ragstone.results.record import MetricEntry

OVERALL: Final = (
    "acceptability - vulnerability - insensitivity - misinterpretation = 2 x acceptability - 1"
)
"""MIRAGE's overall figure, CA - NV - CI - CM."""

ADAPTABILITY: Final = {
    "Context acceptability": "Correct with the gold passage alone and with the mixed context.",
    "Noise vulnerability": "Correct with the gold passage alone, wrong with the mixed context. "
    "Noise: the mixed context contained a gold passage (the generator failed). Miss: it did not "
    "(retrieval failed).",
    "Context insensitivity": "Wrong without context and with the gold passage alone.",
    "Context misinterpretation": "Correct without context, wrong with the gold passage alone: the "
    "context misled the generator.",
    "Overall": f"{OVERALL}: the figure of MIRAGE's released code, from -1 to 1.",
}
"""MIRAGE's four metrics (Park et al., NAACL 2025), noise vulnerability split by cause."""

SETTINGS: Final = {
    "none": "no context: a model answers from memory, your own system may search by itself",
    "system": "the context that the system itself reported with its answer",
    "gold": "only the passages that are relevant according to the qrels",
    "gold+noise": "relevant passages among misleading ones",
    "noise": "misleading passages alone: a refusal is right",
    "retrieved": "the passages that the system retrieved",
    "documents": "whole documents, those of the best passages that the system retrieved",
    "neighbours": "the passages that the system retrieved, joined with those beside them",
    "given": "passages that a counterfactual names",
    "gold+injected": "relevant passages among passages with planted instructions or false facts",
    "gold+retrieved": "the relevant passages, then the best others that the system retrieved",
}


def metric_definitions(metrics: Iterable[MetricEntry]) -> list[tuple[str, str]]:
    """Return (name, paragraph) of each metric in order; cutoffs of a metric share a paragraph.

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
    """Return a description of the contexts of a built-in setting; "" for any other setting."""
    return SETTINGS.get(metric_stem(setting), "")
