"""Trials that decide causes: each planted fault is found, nothing is asked twice or too often."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.faulty_system import faulty

from ragstone.cli.show import command
from ragstone.errors import CallError, ConfigError
from ragstone.experiment.deciding import Decisions, decide_causes, plan_decisions
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.results.causes.found import causes_of
from ragstone.results.causes.gains import gains_of
from ragstone.results.record import Record
from ragstone.results.results import Results
from ragstone.testing import FakeFaults

SYSTEM, SETTING = "faulty", "retrieved(3)"


@pytest.fixture
def faults(tmp_path: Path) -> Iterator[FakeFaults]:
    """Yield a system that makes each kind of mistake on two queries."""
    with FakeFaults(tmp_path / "faults", per_cause=2) as made:
        yield made


@pytest.fixture
def ran(faults: FakeFaults) -> tuple[Experiment, Results]:
    """Return the experiment and its results."""
    experiment = load_experiment(faults.file)
    return experiment, experiment.run()


def found(results: Results) -> dict[str, str]:
    """Return query id -> cause of the faulty system, as the store has it now."""
    now = causes_of(Results(results.store, results.record))
    return {one.query_id: one.cause for one in now.of(SYSTEM, SETTING)}


def asked(decisions: Decisions, system: str = SYSTEM) -> dict[str, int]:
    """Return trial -> number of queries that a system was asked."""
    return {one.trial.name: one.asked for one in decisions.trials if one.trial.system == system}


def test_every_planted_fault_is_found(faults: FakeFaults, ran: tuple[Experiment, Results]) -> None:
    """No answer without a planted fault is blamed; the experiment itself stays as it was."""
    experiment, results = ran
    plan = plan_decisions(experiment, results)
    decisions = decide_causes(experiment, results)

    assert found(results) == faults.planted
    assert 0 < decisions.calls <= sum(one.calls for one in plan)
    assert decisions.cost is None
    assert Record.load(results.store, results.name) == results.record
    now = Results(results.store, results.record)
    measured = [one for one in gains_of(now) if one.system == SYSTEM and one.step != "processing"]
    assert not any(one.missing_trial for one in measured if one.step != "noise")


def test_a_second_time_nothing_is_asked(ran: tuple[Experiment, Results]) -> None:
    """What the trials decided is read from the store."""
    experiment, results = ran
    decide_causes(experiment, results)
    before = found(results)

    again = decide_causes(experiment, results)

    assert again.calls == 0
    assert plan_decisions(experiment, results) == []
    assert found(results) == before


def test_a_maximum_of_calls_is_kept_and_resumed(ran: tuple[Experiment, Results]) -> None:
    """What does not fit is named; later calls go on until everything is decided."""
    experiment, results = ran
    first = decide_causes(experiment, results, max_calls=7)

    assert first.calls <= 7
    short = [one for one in first.trials if one.left_out]
    assert short[0].reason == "the maximum of 7 calls does not suffice"
    made = [decide_causes(experiment, results, max_calls=45).calls for _ in range(6)]
    assert max(made) <= 45
    assert made[-1] == 0
    assert plan_decisions(experiment, results) == []


def test_one_system_alone_can_be_decided(ran: tuple[Experiment, Results]) -> None:
    """The others are not asked."""
    experiment, results = ran
    decisions = decide_causes(experiment, results, system="second", setting=SETTING)

    assert asked(decisions) == {}
    assert asked(decisions, "second")["the setting gold"]
    assert decide_causes(experiment, results, system=SYSTEM, setting="none").trials == ()


def test_a_model_that_is_off_is_named(faults: FakeFaults, ran: tuple[Experiment, Results]) -> None:
    """The same call works when it is back."""
    experiment, results = ran
    faults.stop()

    with pytest.raises(CallError, match="is the server"):
        decide_causes(experiment, results)


def test_an_edited_file_is_refused(faults: FakeFaults, ran: tuple[Experiment, Results]) -> None:
    """Answers of another model could not be compared with those of the run."""
    text = faults.file.read_text("utf-8").replace('"planted"', '"other"')
    faults.file.write_text(text, "utf-8")

    with pytest.raises(ConfigError, match="is not that of the last run"):
        decide_causes(load_experiment(faults.file), ran[1])


def test_a_trial_that_cannot_be_asked_is_named(tmp_path: Path) -> None:
    """No document of this data has two passages, so there are no neighbours."""
    changes = {"settings": ["retrieved(3)"]}
    with FakeFaults(tmp_path / "f", 1, faults=("reading", "ranking"), changes=changes) as made:
        experiment = load_experiment(made.file)
        results = experiment.run()
        decisions = decide_causes(experiment, results)
    reasons = {one.trial.kind: one.reason for one in decisions.trials}

    assert "no document of the data set" in reasons["neighbours"]
    assert found(results) == made.planted


def test_own_components_are_asked(tmp_path: Path) -> None:
    """Answers of your own code count as calls."""
    results = faulty(tmp_path, settings=["retrieved(3)"])
    experiment = load_experiment(tmp_path / "e.yaml")

    decisions = decide_causes(experiment, results)

    causes = causes_of(Results(results.store, results.record)).of("a", "retrieved(3)")
    kinds = {one.query_id: one.cause for one in causes}
    assert kinds["distracted"] == "distraction"
    assert kinds["known"] == "knowledge_conflict"
    assert kinds["misread"] == "reading"
    assert kinds["border"] == "chunk_border"
    assert decisions.calls == sum(
        one.asked for one in decisions.trials if one.trial.kind != "rewrite"
    )


def test_an_experiment_without_labels_has_no_trials(tmp_path: Path) -> None:
    """Nothing calls an answer wrong."""
    results = faulty(tmp_path, metrics=["F1"], correct=None)

    assert decide_causes(load_experiment(tmp_path / "e.yaml"), results).trials == ()


def shown(file: Path, *options: str) -> Any:
    """Run `ragstone show --causes` with options."""
    return CliRunner().invoke(command, [str(file), "--causes", *options])


@pytest.mark.usefixtures("ran")
def test_the_command_plans_then_asks(faults: FakeFaults) -> None:
    """Without a maximum it names one; then the causes and what was asked are printed."""
    refused = shown(faults.file, "--decide")
    assert "trials that would decide more causes" in refused.stderr
    assert "at most" in str(refused.exception)

    done = shown(faults.file, "--decide", "--max-calls", "500", "--json")

    document = json.loads(done.stdout)
    assert list(document) == ["causes", "gains", "queries", "marks", "decided"]
    assert list(document["decided"]) == ["calls", "cost", "trials"]
    row = document["decided"]["trials"][0]
    assert list(row) == ["system", "trial", "asked", "failed", "left_out", "reason", "calls"]
    again = shown(faults.file, "--decide")
    assert "No trial would decide more." in again.stdout


@pytest.mark.usefixtures("ran")
def test_options_of_decide_need_it(faults: FakeFaults) -> None:
    """Each names what to add."""
    assert "add --causes" in CliRunner().invoke(command, [str(faults.file), "--decide"]).stderr
    assert "belong to --decide" in shown(faults.file, "--max-calls", "3").stderr
    unknown = shown(faults.file, "--decide", "--system", "faultx")
    assert "did you mean 'faulty'" in str(unknown.exception)
