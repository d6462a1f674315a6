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
