"""Misleading passages alone."""

from __future__ import annotations

import pytest

import ragstone
from ragstone.components.context_settings.noise import Noise
from ragstone.errors import ConfigError


def test_noise_shows_the_passages_of_gold_noise_without_gold() -> None:
    """Both settings have the same misleading passages, which are judged as not relevant."""
    document = {
        "data": {"path": "sample"},
        "sample": {"limit": 12},
        "systems": {"a": {"generator": "gold"}},
        "settings": ["noise(3)", "gold+noise(3)"],
        "metrics": ["Match"],
    }
    results = ragstone.load_experiment(document).run()

    alone, mixed = ({t.setting: t for t in results.trials}[s] for s in results.settings)
    assert alone.setting == "noise(3)"
    assert {p.origin for context in alone.contexts.values() for p in context.passages} == {"noise"}
    for query_id, context in mixed.contexts.items():
        noise = [p.passage_id for p in context.passages if p.origin == "noise"]
        assert noise == [p.passage_id for p in alone.contexts[query_id].passages]


def test_a_query_without_gold_has_noise_too() -> None:
    """To refuse is right for it as well."""
    query = ragstone.Query("q", "Where?")

    assert Noise().inapplicable(query, 0) == ""


def test_at_least_one_passage_is_needed() -> None:
    """The message has the number that was found."""
    with pytest.raises(ConfigError, match="noise needs at least 1 passage, found 0"):
        Noise(0)
