"""Gains of perfect steps in stored results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.causes.gains import Step
from ragstone.experiment.load import load_experiment
from ragstone.results.causes.document import causes_document
from ragstone.results.causes.found import causes_of
from ragstone.results.causes.gains import Gain, gains_of
from ragstone.results.causes.text import causes_text
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield a model that repeats the first passage, and knows nothing without one."""
    with FakeModelServer(lambda messages: messages[-1]["content"].partition("\n")[0]) as found:
        yield found


def run(server: FakeModelServer, folder: Path, **changes: Any) -> Results:
    """Return the results of a system that retrieves badly."""
    generator = {"name": "chat", "model": "m", "base_url": server.url, "user": "{context}\n{query}"}
    document = {
        "name": "gains",
        "data": "sample",
        "store": str(folder / "store"),
        "sample": {"limit": 12},
        "systems": {"s": {"retriever": "bm25", "generator": generator}},
        "settings": ["none", "gold", "retrieved(1)"],
        "metrics": ["R@5", "Match"],
        **changes,
    }
    return load_experiment(document).run()


def by_step(results: Results) -> dict[Step, Gain]:
    """Return step -> gain of the only mixed setting."""
    return {one.step: one for one in gains_of(results)}


def test_a_bound_becomes_exact_with_its_trial(server: FakeModelServer, tmp_path: Path) -> None:
    """The bound names the trial; with the trial the gain is what was measured."""
    bounds = by_step(run(server, tmp_path))
    steps: tuple[Step, ...] = ("retrieval", "ranking")
    lost = [step for step in steps if bounds[step].missing_trial]
    assert lost
    assert all(
        "the setting gold+retrieved(1) (" in str(bounds[step].missing_trial) for step in lost
    )
    assert all(bounds[step].bound for step in lost)

    settings = ["none", "gold", "retrieved(1)", "gold+retrieved(1)"]
    results = run(server, tmp_path, settings=settings)
    exact = {one.step: one for one in gains_of(results) if one.setting == "retrieved(1)"}
    assert not any(exact[step].bound or exact[step].missing_trial for step in lost)
    assert all(exact[step].gain <= bounds[step].gain for step in lost)
    assert all(one.interval for one in exact.values())


def test_parts_add_up_to_all_that_can_be_gained(server: FakeModelServer, tmp_path: Path) -> None:
    """Every answer of a query with gold can become right, unless its call failed."""
    results = run(server, tmp_path)
    (count,) = causes_of(results).counts
    n = count.right + count.wrong
    assert sum(one.shapley for one in gains_of(results)) == pytest.approx(count.wrong / n)
    assert {one.n for one in gains_of(results)} == {n}


def test_document_and_text(server: FakeModelServer, tmp_path: Path) -> None:
    """The promised keys, of the chosen trials alone."""
    results = run(server, tmp_path)
    document = causes_document(results)
    assert set(document) == {"causes", "gains", "queries", "marks"}
    assert {"system", "setting", "step", "gain", "interval", "bound"} <= document["gains"][0].keys()
    text = causes_text(results, causes_of(results))
    assert "Gains of a perfect step (Match" in text
    assert "at most " in text


def test_without_a_rule_or_a_wrong_answer(server: FakeModelServer, tmp_path: Path) -> None:
    """There is nothing to gain."""
    assert gains_of(run(server, tmp_path, correct=None)) == ()
    always_right = {"own": {"generator": "gold"}}
    changes: dict[str, Any] = {"systems": always_right, "settings": ["gold"], "metrics": ["Match"]}
    assert gains_of(run(server, tmp_path, name="right", **changes)) == ()
