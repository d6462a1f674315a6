"""The key `secret` of an experiment file, before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.canary_store import canary_experiment

from ragstone.errors import ConfigError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment

OWN: dict[str, Any] = {"systems": {"own": {"retriever": "bm25", "generator": "gold"}}, "judges": []}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an experiment on 40 queries that was run."""
    made = tmp_path_factory.mktemp("plan")
    canary_experiment(made, **OWN)
    return made


def experiment(folder: Path, *overrides: str) -> Experiment:
    """Return the experiment with changed keys."""
    return load_experiment(folder / "e.yaml", overrides)


def test_the_plan_has_the_number(folder: Path) -> None:
    """As text and as plain data; all steps are kept."""
    plan = experiment(folder, "secret=30%").plan()
    document: dict[str, Any] = plan.document()
    count = document["secret"]["queries"]
    assert 0 < count < 20
    assert document["secret"]["of"] == 40
    assert f"{count} of 40 queries are secret" in plan.text()
    assert {step.state for step in plan.steps} == {"kept"}
    plain = experiment(folder).plan()
    assert plain.document()["secret"] == {"queries": 0, "of": 40}
    assert "secret" not in plain.text()


def test_a_share_without_queries_is_refused(folder: Path) -> None:
    """None or all of them: the message has the numbers; so with too few queries."""
    with pytest.raises(ConfigError, match="0 of 40 queries, in 40 conversations or documents"):
        experiment(folder, "secret=0.0001").check()
    with pytest.raises(ConfigError, match="40 of 40 queries"):
        experiment(folder, "secret=99.999%").check()
    with pytest.raises(ConfigError, match=r"9 queries are too few .* use at least 10"):
        experiment(folder, "secret=30%", "sample.limit=9").check()
    with pytest.raises(ConfigError, match=r"key 'secret': write a share .*found 30"):
        experiment(folder, "secret=30")


def test_the_key_is_written_in_one_form(folder: Path) -> None:
    """The record has the share and the seed."""
    assert experiment(folder, "secret=30%").file.secret == {"queries": 0.3, "seed": 0}
    given = experiment(folder, "secret={queries: 20%, seed: 3}").file.secret
    assert given == {"queries": 0.2, "seed": 3}
    assert experiment(folder).file.secret is None


def test_a_part_of_the_queries_has_no_share_of_its_own(folder: Path) -> None:
    """Batches of a gate and counterfactuals may be all open or all secret."""
    experiment(folder, "secret=30%").of_queries(["idcanary00x"]).check()


def test_the_plan_has_the_number_of_nuggets(tmp_path: Path) -> None:
    """Beside the queries, if a share of them is secret."""
    own = {**OWN, "judges": ["nuggets"]}
    canary_experiment(tmp_path, **own, again=[{"nuggets": "40%"}])
    plan = experiment(tmp_path, "secret={nuggets: 40%}").plan()
    facts: dict[str, int] = plan.document()["secret"]
    assert facts | {"nuggets": 0} == {"queries": 0, "of": 40, "nuggets": 0, "of_nuggets": 240}
    assert f"{facts['nuggets']} of 240 nuggets are secret: they are graded" in plan.text()
    assert {step.state for step in plan.steps} == {"kept"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["judges=[equivalence]"], "no judge grades them; add nuggets to 'judges'"),
        (["secret.nuggets=0.0000001"], r"0 of 240 nuggets .* one nugget of each query is always"),
        (["metrics=[Match, assigned-nuggets]"], "is of all assigned nuggets and cannot keep"),
        (["judges=[nuggets, {name: criterion, label: okay_nuggets}]"], "reads the label 'okay_"),
        (["judges=[nuggets, {name: conditioned, of: nuggets}]"], "contains the judge 'nuggets'"),
        (["correct=nuggets:secret >= 0.5"], "is not among the metrics"),
        (["headline=nuggets:secret"], "is not a metric"),
        (["data=sample"], "no answered query has nuggets"),
    ],
)
def test_nuggets_that_cannot_be_secret(folder: Path, changes: list[str], message: str) -> None:
    """The message has the reason and what to leave out; nothing was spent."""
    judges = "judges=[{name: nuggets, model: local}]"
    with pytest.raises(ConfigError, match=message):
        experiment(folder, judges, "secret={nuggets: 30%}", *changes).check()
