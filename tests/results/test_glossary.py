"""What the numbers mean."""

from __future__ import annotations

from ragstone.components.metrics.parse import ANSWERS, RANKING
from ragstone.core.builtins import BUILT_IN
from ragstone.results.glossary import metric_definitions, setting_meaning


def test_every_built_in_metric_is_explained() -> None:
    """No metric is left to its name: each has a paragraph of its own."""
    named = [*ANSWERS, *(f"{name}@10" for name in RANKING if name not in {"MAP", "Rprec"})]
    told = dict(metric_definitions(named))

    assert len(told) == len(named)
    assert all(len(text) > 20 for text in told.values())
    assert told["F1"] != told["F1@k"]
    assert "See the metric" not in " ".join(told.values())


def test_cutoffs_are_explained_together() -> None:
    """nDCG@1 and nDCG@10 share one paragraph."""
    assert [name for name, _ in metric_definitions(["nDCG@1", "nDCG@10", "MAP"])] == [
        "nDCG@k",
        "MAP",
    ]


def test_every_built_in_setting_is_explained() -> None:
    """A setting's parameters do not hide what it is."""
    assert all(setting_meaning(name) for name in BUILT_IN["context_settings"])
    assert setting_meaning("gold+noise(4, position=last)") == setting_meaning("gold+noise")
    assert not setting_meaning("my own")
