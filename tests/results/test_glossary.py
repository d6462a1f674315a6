"""Definitions of metrics and settings."""

from __future__ import annotations

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.builtins import BUILT_IN
from ragstone.results.glossary import metric_definitions, setting_meaning
from ragstone.results.record import MetricEntry


def test_every_built_in_metric_is_explained() -> None:
    """Each built-in metric has its own paragraph, which is more than its name."""
    metrics = [parse_metric(name.replace("@k", "@10")) for name in BUILT_IN["metrics"]]
    entries = [MetricEntry(str(m), "answer", description=m.described()) for m in metrics]
    definitions = dict(metric_definitions(entries))

    assert len(definitions) == len(entries)
    assert all(len(text) > 20 for text in definitions.values())
    assert definitions["F1"] != definitions["F1@k"]
    assert "See the metric" not in " ".join(definitions.values())


def test_cutoffs_are_explained_together() -> None:
    """nDCG@1 and nDCG@10 share one paragraph."""
    entries = [MetricEntry(name, "ranking") for name in ("nDCG@1", "nDCG@10", "MAP")]

    assert [name for name, _ in metric_definitions(entries)] == ["nDCG@k", "MAP"]


def test_every_built_in_setting_is_explained() -> None:
    """The parameters in the name of a setting do not change its description."""
    assert all(setting_meaning(name) for name in BUILT_IN["context_settings"])
    assert setting_meaning("gold+noise(4, position=last)") == setting_meaning("gold+noise")
    assert not setting_meaning("my own")
