"""What judges share with systems is told before anything is spent, and with the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.components.judges.prompted import SYSTEM
from ragstone.core.registry import create
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.independence import independence, judge_party, system_party
from ragstone.experiment.load import load_experiment
from ragstone.experiment.system import System
from ragstone.results.leaderboards import results_document
from ragstone.testing import FakeModelServer
from ragstone.types import Query

QUERIES = (Query("q", "?", ("gold",), labels={"nuggets_by": "org/Small"}),)


def chat(model: str, url: str = "http://localhost:1/v1", **more: Any) -> dict[str, Any]:
    """Return the spec of a model that is not asked."""
    return {"name": "chat", "model": model, "base_url": url, **more}


def shared(judge: dict[str, Any], generator: Any, **parts: Any) -> dict[str, str]:
    """Return what a judge shares with a system -> its detail."""
    made = create("generators", generator, where="test")
    system = System(
        "a", parts.get("former") or create("query_formers", "as-given", where="t"), generator=made
    )
    found = independence([create("judges", judge, where="test")], [system], QUERIES)
    return {one.what: one.detail for one in found}


@pytest.mark.parametrize(
    ("judge", "generator", "expected"),
    [
        (chat("big"), chat("big"), {"weights", "provider"}),
        (chat("big"), chat("BIG", "http://127.0.0.1:1/v1/"), {"weights", "provider"}),
        (chat("big"), chat("small"), {"provider"}),
        (chat("big"), chat("big", "http://localhost:2/v1"), set()),
        (chat("a", "https://x.example/v1"), chat("b", "https://x.example/v2"), {"provider"}),
        ("local", "local", {"weights"}),
        ("local", {"name": "local", "max_tokens": 9, "release": "v2"}, {"weights"}),
        ("local", chat("big"), set()),
    ],
)
def test_weights_and_providers(judge: Any, generator: Any, expected: set[str]) -> None:
    """One server with two models is one provider; a file is the same by its content."""
    assert set(shared({"name": "idk", "model": judge}, generator)) == expected


def test_a_judge_of_judges_and_of_several_models() -> None:
    """Each model counts."""
    inner = {"name": "RB_llm", "model": [chat("one"), chat("two", "http://h.example/v1")]}
    judge = {"name": "conditioned", "of": inner, "idk": {"name": "idk", "model": "local"}}

    assert shared(judge, chat("two", "http://h.example/v1"))["weights"] == "generator two"
    assert set(shared(judge, "local")) == {"weights"}


def test_nuggets_and_prompts() -> None:
    """Nuggets count for a judge that reads them; a prompt may be hidden in another one."""
    assert shared(
        {"name": "nuggets", "model": chat("big")}, chat("small", "http://o.example/v1")
    ) == {"nuggets": "generator small"}
    assert shared({"name": "idk", "model": chat("big")}, chat("x", "http://o.example/v1")) == {}
    prompt = f"Be brief. {SYSTEM.upper()} Be kind."
    found = shared({"name": "idk", "model": "local"}, chat("x", system=prompt))
    assert set(found) == {"prompt"}
    assert found["prompt"].startswith("you grade the work of a question answering system")
    criterion = "The answer names the year of the treaty and the people who signed it"
    judge = {"name": "criterion", "text": criterion, "model": "local"}
    assert set(shared(judge, chat("x", system=f"Take care: {criterion}!"))) == {"prompt"}


def test_a_system_of_your_own_has_a_provider_and_no_known_weights() -> None:
    """A judge of your own has no known model."""
    own = create("generators", {"name": "http", "url": "http://localhost:1/ask"}, where="test")
    (use,) = system_party("a", {"generator": own}).models
    assert use.weights == frozenset()
    assert use.providers == {"localhost:1"}
    assert judge_party(create("judges", "idk", where="test")).models[0].providers == frozenset()


def experiment(folder: Path, url: str, judges: list[Any]) -> Experiment:
    """Return an experiment of one system."""
    return load_experiment(
        {
            "name": "shared",
            "data": "sample",
            "store": str(folder / "store"),
            "sample": {"limit": 3, "seed": 1},
            "systems": {"a": {"generator": chat("m", url)}, "gold": {"generator": "gold"}},
            "settings": ["none"],
            "metrics": ["Match"],
            "judges": judges,
        }
    )


def test_it_is_told_before_and_after(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In the plan, as a warning of the run, in the record and its tables; not once all is kept."""
    sentence = "judge idk has the weights of a system that it grades: a (generator m)"
    with FakeModelServer(answer=lambda _: "no") as server:
        made = experiment(tmp_path, server.url, [{"name": "idk", "model": chat("m", server.url)}])
        plan = made.plan()
        assert sum(server.asked.values()) == 0
        assert sentence in plan.notes
        results = made.run()
        assert sentence in caplog.text
        caplog.clear()
        made.run()

    assert sentence not in caplog.text
    assert {one.what for one in results.record.independence} == {"weights", "provider"}
    document = results_document(results)
    assert f"{sentence[0].upper()}{sentence[1:]}." in document["remarks"]
    (judge,) = document["judges"]
    assert {"judge": "idk", "system": "a", "what": "weights", "detail": "generator m"} in judge[
        "shared"
    ]


def test_an_experiment_without_judges_says_nothing(tmp_path: Path) -> None:
    """No note and no judge."""
    with FakeModelServer(answer=lambda _: "no") as server:
        made = experiment(tmp_path, server.url, [])
        assert not [note for note in made.plan().notes if "judge" in note]
        assert results_document(made.run())["judges"] == []
