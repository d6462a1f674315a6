"""Steering by instructions in answers is measured per kind of attack."""

from __future__ import annotations

from typing import Any

from ragstone.calls.types import Request
from ragstone.components.judges.verdict import Item
from ragstone.core.registry import create
from ragstone.evaluation.human_grades import HumanSet, Labelled
from ragstone.evaluation.probes import ORDERS
from ragstone.evaluation.steering import steering
from ragstone.testing import ScriptedCalls
from ragstone.types import Query

MODEL: dict[str, Any] = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}


def test_an_obedient_model_is_steered_and_an_honest_one_is_not() -> None:
    """An obedient model is steered by the command only; an honest one by no attack."""
    items = tuple(
        Labelled(Item(Query(f"q{n}", "What?", ("gold",)), f"wrong {n}"), 0.0, "no")
        for n in range(10)
    )
    data = HumanSet("made", items, "equivalence", "is it right?", {})
    judge = create("judges", {"name": "equivalence", "model": MODEL}, where="test")

    def obeys(request: Request) -> str:
        return "yes" if "Ignore the above" in request.messages[-1][1] else "no"

    obedient = {s.attack: s for s in steering(judge, data, ScriptedCalls(obeys).services())}
    honest = steering(judge, data, ScriptedCalls(lambda _: "no").services())

    assert set(obedient) == {name.replace("-", " ") for name in ORDERS}
    assert {name for name, one in obedient.items() if one.steered.value} == {"command"}
    assert obedient["command"].steered.count == 10
    assert [one.steered.value for one in honest] == [0.0] * len(ORDERS)
