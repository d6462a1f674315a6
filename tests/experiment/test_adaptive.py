"""Adaptive runs: fewer answers, one ordinary record, resumption, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from ragstone.cli.run import command as run_command
from ragstone.cli.show import command as show_command
from ragstone.core.store import Store
from ragstone.errors import ConfigError
from ragstone.experiment.adaptive import AdaptiveRun
from ragstone.experiment.freshness import Freshness
from ragstone.experiment.load import load_campaign
from ragstone.experiment.record import Recorder
from ragstone.results.record import Record
from ragstone.results.results import Results
from ragstone.statistics.adaptive import AdaptiveRules

QUERIES = 120
OWN = """
from pathlib import Path

def _asked(system, query):
    with Path("asked.txt").open("a") as file:
        file.write(system + " " + query + "\\n")
    return int(query.strip("?").split()[1])

def good(query):
    return "right" if _asked("good", query) % 10 else "wrong"

def close(query):
    return "right" if (_asked("close", query) + 5) % 10 else "wrong"

def bad(query):
    return "right" if _asked("bad", query) % 3 == 0 else "wrong"
"""
RULES = AdaptiveRules(share=0.4)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN, encoding="utf-8")
    rows = [{"query": f"question {i}?", "gold_answers": ["right"]} for i in range(QUERIES)]
    Path("qa.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def write(**changes: Any) -> str:
    """Write the experiment file and return its name."""
    systems = {s: {"generator": f"callable(own.py:{s})"} for s in ("good", "close", "bad")}
    document = {
        "data": "qa.jsonl",
        "store": "store",
        "systems": systems,
        "settings": ["none"],
        "metrics": ["EM", "F1"],
        "correct": "EM",
    }
    Path("e.yaml").write_text(yaml.safe_dump(document | changes), encoding="utf-8")
    return "e.yaml"


def run(path: str, rules: AdaptiveRules = RULES, **options: Any) -> list[Results]:
    """Return the results of an adaptive run."""
    loaded = load_campaign(path)
    with loaded.open_calls() as calls:
        return AdaptiveRun(loaded, calls, rules, Freshness(**options)).run()


def asked() -> Counter[str]:
    """Return system and query -> how often it was asked."""
    path = Path("asked.txt")
    return Counter(path.read_text().splitlines() if path.exists() else ())


def sizes(results: Results) -> dict[str, int]:
    """Return system -> number of queries with a score."""
    return {cell.system: cell.summary.n for cell in results.answer_cells if cell.metric == "EM"}


def test_a_worse_system_is_asked_less_and_nothing_twice() -> None:
    """The record is an ordinary one; it has the plan, and tables and tests know the sizes."""
    (results,) = run(write())

    facts = results.record.adaptive
    one = facts["contests"]["none"]
    assert results.finished
    assert (facts["ended"], facts["metric"], one["state"]) == (True, {"none": "EM"}, "budget")
    assert list(one["stopped"]) == ["bad"]
    assert set(asked().values()) == {1}
    assert asked().total() == facts["answers"] <= 0.4 * facts["all_answers"]
    assert sizes(results) == one["asked"]
    assert one["asked"]["bad"] < one["asked"]["good"] == one["asked"]["close"]
    pair = results.standings["none", "EM"].pairs[frozenset(("good", "bad"))]
    assert pair.difference.n == one["asked"]["bad"]
    assert results.not_applicable == {}
    estimate = next(e for e in facts["estimates"] if e["system"] == "good")
    assert estimate["n"] == one["asked"]["good"]
    assert estimate["interval"][0] < estimate["mean"] < estimate["interval"][1]


def test_the_same_run_again_asks_nothing() -> None:
    """Kept answers lead to the same decisions, and the record stays as it is."""
    (first,) = run(write())
    before = asked()

    (again,) = run("e.yaml", reuse=True)

    assert asked() == before
    assert again.record.adaptive == first.record.adaptive
    assert again.record.finished == first.record.finished


def test_a_stopped_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a stop in the middle the record is not finished; nothing is asked twice."""
    finish, rounds = Recorder.finish, []

    def stop_in_second_round(*arguments: Any) -> Record:
        rounds.append(1)
        if len(rounds) == 2:
            raise KeyboardInterrupt
        return finish(*arguments)

    write()
    monkeypatch.setattr(Recorder, "finish", stop_in_second_round)
    with pytest.raises(KeyboardInterrupt):
        run("e.yaml")
    monkeypatch.setattr(Recorder, "finish", finish)
    assert not Results.load(Store(Path("store")), "e").finished
    before = asked().total()

    (results,) = run("e.yaml")

    assert results.finished
    assert set(asked().values()) == {1}
    assert before < asked().total() == results.record.adaptive["answers"]


def test_data_sets_share_the_budget() -> None:
    """Each data set has a record of its own; the sum keeps to the budget."""
    data = {
        "one": {"path": "qa.jsonl", "sample": {"limit": 50}},
        "two": {"path": "qa.jsonl", "sample": {"limit": 70, "seed": 3}},
    }

    found = run(write(data=data, name="study"))

    answers = [results.record.adaptive["answers"] for results in found]
    assert [results.name for results in found] == ["study.one", "study.two"]
    assert sum(answers) <= 0.4 * 3 * QUERIES
    assert all(results.record.adaptive["ended"] for results in found)


def test_settings_are_contests_of_their_own() -> None:
    """Each setting stops its own systems; adaptability is of the queries that all settings have."""
    systems = {
        "right": {"retriever": "bm25", "generator": "gold"},
        "silent": {"retriever": "bm25", "generator": "callable(own.py:bad)"},
    }
    changes: dict[str, Any] = {"systems": systems, "data": "sample", "metrics": ["Match"]}
    Path("own.py").write_text("def bad(query, passages):\n    return 'nothing'\n", encoding="utf-8")
    settings = ["none", "gold", "gold+noise(2)"]

    (results,) = run(write(settings=settings, correct="Match", **changes))

    contests = results.record.adaptive["contests"]
    assert set(contests) == set(settings)
    assert {one["leader"] for one in contests.values()} == {"right"}
    assert len(results.adaptability) == 2


def test_the_command_prints_the_plan() -> None:
    """`--json` has `adaptive`; `ragstone show` tells how the run ended, and that n differs."""
    done = CliRunner().invoke(run_command, [write(), "--adaptive", "--share", "0.4", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["adaptive"]["contests"]["none"]["leader"] in ("good", "close")

    shown = CliRunner().invoke(show_command, ["e.yaml"])
    assert "Adaptive run: " in shown.output
    assert "Stopped as worse: bad at look" in shown.output
    assert "Systems have different n" in shown.output.replace("\n", " ")


@pytest.mark.parametrize(
    ("changes", "rules", "problem"),
    [
        ({"systems": {"good": {"generator": "callable(own.py:good)"}}}, RULES, "two systems"),
        ({}, AdaptiveRules(share=0.01), "the smallest share is 0.017"),
    ],
)
def test_nothing_to_decide_is_refused(
    changes: dict[str, Any], rules: AdaptiveRules, problem: str
) -> None:
    """One system, or a budget without a query for each, is an error before anything is asked."""
    with pytest.raises(ConfigError, match=problem):
        run(write(**changes), rules)
    assert not asked()


@pytest.mark.parametrize("options", [["--share", "0.3"], ["--adaptive", "--only", "generate"]])
def test_options_that_exclude_each_other(options: list[str]) -> None:
    """They are wrong usage."""
    assert CliRunner().invoke(run_command, [write(), *options]).exit_code == 2
    assert not asked()


def test_plan_of_an_adaptive_run() -> None:
    """It tells how many of all answers are asked for, and asks nothing."""
    given = ["--adaptive", "--share", "0.4", "--plan"]
    printed = CliRunner().invoke(run_command, [write(), *given, "--json"])

    planned = json.loads(printed.stdout)["adaptive"]
    assert planned["all_answers"] == 3 * QUERIES
    assert planned["answers_at_most"] == 144
    assert planned["first_round"] == 3 * 24
    assert "at most 144 of these 360" in CliRunner().invoke(run_command, [write(), *given]).stdout
    assert not asked()
    run(write(), RULES)
    assert planned["first_round"] <= len(asked()) <= planned["answers_at_most"]
