"""Strategies are found by name, and some take parameters."""

from __future__ import annotations

import pytest

from ragstone.building.generate import GenerationPlan
from ragstone.building.strategies import STRATEGIES
from ragstone.building.strategy_specs import find_strategy
from ragstone.errors import ConfigError

TRAINED = "chat(model=trained, base_url='http://localhost:1/v1')"


def test_a_name_is_a_strategy() -> None:
    """All names of the table are found."""
    assert all(find_strategy(name) is one for name, one in STRATEGIES.items())


def test_a_strategy_takes_parameters() -> None:
    """The parameters of `writer` are its model and its labels."""
    found = find_strategy(f"writer(model={TRAINED}, labels=[easy, hard])")
    assert found.labels == ("easy", "hard")
    assert found.model is not None
    assert found.model.endpoint.model == "trained"
    plan = GenerationPlan(f"writer(model={TRAINED})", count=6)
    assert plan.wanted == {"fact_single": 2, "summary": 2, "reasoning": 2}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("statments", "unknown strategy 'statments'.*statements"),
        ("writr(model=x)", "unknown strategy.*writer"),
        ("single(model=x)", "'single' has no parameters"),
        ("writer", "needs model"),
        ("writer(modell=x)", "has no parameter 'modell'.*model"),
        ("writer(model=gold())", "not a language model"),
    ],
)
def test_what_is_wrong_is_named(written: str, message: str) -> None:
    """An error names the strategy or the parameter, and the near one."""
    with pytest.raises(ConfigError, match=message):
        GenerationPlan(written)
