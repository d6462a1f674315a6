"""`ragstone judge check` with several judges, stored scores, labels, prices and the leaderboard."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result

from ragstone.cli.judge import command
from ragstone.errors import ConfigError, DatasetError
from ragstone.testing import FakeModelServer

SharedData: TypeAlias = Callable[[str], Path]


def run(*given: object) -> Result:
    """Run `ragstone judge check`."""
    return CliRunner().invoke(command, ["check", *map(str, given)])


def test_several_judges_of_a_file_are_side_by_side(shared_data: SharedData, tmp_path: Path) -> None:
    """Equal judges get the name of their model; the cost has a price; --judge chooses one."""
    with FakeModelServer(answer=lambda _: "**Yes**") as server:
        models = [
            f"{{name: chat, model: {name}, base_url: '{server.url}'}}" for name in ("one", "two")
        ]
        file = tmp_path / "judges.yaml"
        lines = [f"  - {{name: equivalence, model: {model}}}\n" for model in models]
        lines.append(f"  - {{name: idk, model: {models[0]}}}\n")
        file.write_text("prices: prices.yaml\njudges:\n" + "".join(lines))
        (tmp_path / "prices.yaml").write_text(
            "currency: EUR\nmodels:\n  one: {input: 1000, output: 0}\n"
        )
        rest = ["--data", shared_data("truthfulqa"), "--limit", 20, "--store", tmp_path / "store"]

        shown, held = run(file, *rest), run(file, *rest, "--json")
        single = run(file, *rest, "--judge", "idk")

    assert shown.exit_code == 0, shown.output
    assert "equivalence by one" in shown.output
    assert "EUR" in shown.output
    assert "Unfit to grade single answers" in shown.output
    document = json.loads(held.output)
    assert [one["judge"] for one in document["orders"]] == [
        "people", "equivalence by one", "equivalence by two", "idk",
    ]  # fmt: skip
    assert len(document["pairs"]) == 6
    one, two, _ = document["checks"]
    assert one["per_item"]["money"] == pytest.approx(one["cost"]["tokens_in"] / 1000 / 20)
    assert two["per_item"]["money"] is None
    assert {use["level"] for use in one["uses"]} <= {
        "fit", "fit only for comparing systems", "unfit",
    }  # fmt: skip
    assert "idk by one on truthfulqa" in single.output


def test_stored_scores_are_checked_without_calls(shared_data: SharedData) -> None:
    """All by default, or those named; the leaderboard and the groups are in text and JSON."""
    data = ["--data", shared_data("mtrag"), "--stored"]

    shown = run("RL_F", *data, "--leaderboard", "--by", "answerability", "--limit", 150)
    held = run("RL_F", *data, "--json", "--by", "system", "--limit", 150)
    ragchecker = run("--data", shared_data("ragchecker"), "--stored", "--json", "--by", "length")

    assert shown.exit_code == 0, shown.output
    assert "tau-AP" in shown.output
    assert "unanswerable" in shown.output
    (document,) = json.loads(held.output)
    assert set(document["leaderboard"]["by_query"]) == {"kendall", "tau_ap", "spearman"}
    assert [one["label"] for one in document["groups"]] == ["system"] * 3
    (pairs,) = json.loads(ragchecker.output)
    assert len(pairs["leaderboard"]["systems"]) == 8


def test_wrong_requests_are_refused_before_anything_is_spent(shared_data: SharedData) -> None:
    """Each error names what is allowed."""
    data = ["--data", shared_data("mtrag")]

    assert "name a judge" in run(*data).output
    assert "one experiment file, found 2" in run("a", "b", "--causes", "c.jsonl").output
    unknown = run("RL_f", *data, "--stored")
    assert isinstance(unknown.exception, DatasetError)
    assert "did you mean 'RL_F'" in str(unknown.exception)
    label = run("RL_F", *data, "--stored", "--by", "answerabilty")
    assert isinstance(label.exception, ConfigError)
    assert "did you mean 'answerability'" in str(label.exception)
    none = run("--data", shared_data("truthfulqa"), "--stored")
    assert isinstance(none.exception, DatasetError)
    assert "has no stored scores" in str(none.exception)


def test_a_judge_without_a_verdict_is_left_out(shared_data: SharedData, tmp_path: Path) -> None:
    """The others are shown, and a note names it; alone, it is an error."""
    with FakeModelServer(answer=lambda _: "**Yes**") as server:
        model = f"chat(model=one, base_url='{server.url}')"
        judges = [f"equivalence(model={model})", f"RL_F(model={model})"]
        rest = ["--data", shared_data("truthfulqa"), "--limit", 10, "--store", tmp_path / "store"]

        shown, held = run(*judges, *rest), run(*judges, *rest, "--json")
        alone = run(judges[1], *rest)

    assert "note: judge RL_F cannot be checked on truthfulqa" in shown.stderr
    assert "equivalence:\n  Unfit" in shown.stdout
    document = json.loads(held.stdout)
    assert [one["judge"] for one in document["checks"]] == ["equivalence"]
    assert "RL_F" in document["no_verdict"][0]
    assert isinstance(alone.exception, ConfigError)
