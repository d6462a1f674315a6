"""Judges in an experiment file: kept, read with the metrics, and counted in the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ragstone.errors import ConfigError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.testing import FakeModelServer


@pytest.fixture
def make(tmp_path: Path) -> Any:
    """Return a function that writes an experiment with judges and loads it."""

    def _make(url: str, judges: list[Any]) -> Experiment:
        model = {"name": "chat", "model": "fake", "base_url": url}
        document = {
            "data": "sample",
            "store": str(tmp_path / "store"),
            "sample": {"limit": 8, "seed": 3, "where": {"turn": None}},
            "systems": {"upper": {"generator": "gold"}},
            "settings": ["none", "gold"],
            "metrics": ["Match"],
            "judges": [
                {"model": model, **(one if isinstance(one, dict) else {"name": one})}
                for one in judges
            ],
        }
        path = tmp_path / "judged.yaml"
        path.write_text(yaml.safe_dump(document))
        return load_experiment(path)

    return _make


def test_a_judge_is_a_metric_of_the_results(make: Any) -> None:
    """One row per query, setting and judge; the second run asks nothing."""
    with FakeModelServer(answer=lambda _: "yes") as server:
        results = make(server.url, ["equivalence", "support"]).run()
        asked = sum(server.asked.values())
        make(server.url, ["equivalence", "support"]).run()

    cells = {(c.setting, c.metric): c.summary for c in results.answer_cells}
    assert {metric for _, metric in cells} == {
        "Match", "equivalence", "support", "support:share",
    }  # fmt: skip
    assert cells["gold", "equivalence"].mean == 1.0
    assert cells["none", "support"].n == 0
    assert cells["none", "support"].not_applicable == 8
    assert asked > 0
    assert sum(server.asked.values()) == asked


def test_a_judge_that_cannot_be_read_is_a_failure_beside_the_mean(make: Any) -> None:
    """No answer counts 0 or one half for the judge's silence."""
    with FakeModelServer(answer=lambda _: "who knows") as server:
        results = make(server.url, [{"name": "idk", "least_parse_rate": 0}]).run()

    cell = next(c for c in results.answer_cells if c.metric == "idk" and c.setting == "gold")
    assert (cell.summary.mean, cell.summary.n) == (None, 0)
    assert cell.summary.unscored == 8 - cell.summary.not_applicable > 0
    assert cell.summary.failed == 0


def test_the_plan_counts_the_judges_calls(make: Any) -> None:
    """Two settings of eight queries, judged in both orders; gold answers need no model."""
    with FakeModelServer() as server:
        plan = make(server.url, ["pairwise"]).plan()

    assert plan.calls == plan.calls_of("judge") == 2 * 8 * 2
    assert "judge answers" in plan.text()


def test_two_judges_of_one_name_are_refused(make: Any) -> None:
    """Their rows could not be told apart."""
    with pytest.raises(ConfigError, match="two metrics are called 'idk'"):
        make("http://localhost:1/v1", ["idk", "idk"]).plan()


def test_an_unknown_judge_is_refused_with_the_nearest(make: Any) -> None:
    """Before anything is run."""
    with pytest.raises(ConfigError, match="did you mean 'equivalence'"):
        make("http://localhost:1/v1", ["equivalense"]).plan()


def test_a_list_of_prompts_makes_one_judge_per_prompt(make: Any, tmp_path: Path) -> None:
    """Each has metrics of its own, and the second run asks nothing."""
    (tmp_path / "prompts").mkdir()
    own = {"user": "Is {answer} exactly {gold}?", "version": 2, "judge": "equivalence"}
    (tmp_path / "prompts" / "strict.yaml").write_text(yaml.safe_dump(own))
    prompts = ["equivalence", "strict", "equivalence.de"]
    judges = [{"name": "equivalence", "prompt": prompts}]
    with FakeModelServer(answer=lambda asked: "no" if "exactly" in str(asked) else "yes") as server:
        results = make(server.url, judges).run()
        asked = sum(server.asked.values())
        make(server.url, judges).run()

    assert sum(server.asked.values()) == asked
    means = {c.metric: c.summary.mean for c in results.answer_cells if c.setting == "gold"}
    strict = "equivalence(prompt=strict)"
    assert (means["equivalence"], means[strict]) == (1.0, 0.0)
    assert means["equivalence(prompt=equivalence.de)"] == 1.0
    facts = results.record.metric(strict).prompt
    assert (facts["label"], facts["version"], facts["language"]) == ("strict@2", 2, "en")
    assert results.record.templates[facts["part"]]["user"] == own["user"]


def test_a_judge_of_a_judge_is_swept_too(make: Any) -> None:
    """Its texts and its prompt are those of both."""
    model = {"name": "chat", "model": "fake", "base_url": "http://localhost:1/v1"}
    of = {"name": "RB_llm", "model": model, "prompt": ["RB_llm", "RB_llm.fr"]}
    written = {"name": "conditioned", "of": of, "idk": {"name": "idk", "model": model}}
    path = make("http://localhost:1/v1", []).folder / "swept.yaml"
    document = yaml.safe_load((path.parent / "judged.yaml").read_text())
    path.write_text(yaml.safe_dump({**document, "judges": written}))
    plain, french = load_experiment(path).judges

    assert str(plain) == "RB_llm(conditioned)"
    assert str(french) == "RB_llm(prompt=RB_llm.fr)(conditioned)"
    assert french.named_prompt["label"] == "RB_llm.fr"
    assert french.named_prompt["idk"]["label"] == "idk"
    assert {"of.user", "idk.user"} <= set(french.templates)
