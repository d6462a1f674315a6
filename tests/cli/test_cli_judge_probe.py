"""`ragstone judge probe`: measured, kept, and shown beside every number of the judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from ragstone.cli import root
from ragstone.components.judges.prompted import SYSTEM
from ragstone.errors import ConfigError
from ragstone.experiment.load import load_experiment
from ragstone.testing import FakeGullibleJudge, FakeModelServer
from ragstone.testing.fake_model_server import Messages
from ragstone.view.pages.compare import compare_page
from ragstone.view.pages.experiment import experiment_document
from ragstone.view.pages.judges import judges_page
from ragstone.view.pages.leaderboard import leaderboard_page
from ragstone.view.store_view import StoreView
from ragstone.web.page_query import PageQuery

GULLIBLE = FakeGullibleJudge(long=3, passage_orders=4)
NOTE = "by long answers"


def answer(messages: Messages) -> str:
    """Answer as a system that is always wrong, or as the gullible judge."""
    is_judge = messages[0]["content"] == SYSTEM
    return GULLIBLE(messages) if is_judge else f"Nobody knows {len(messages[-1]['content'])}."


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield the server of both models."""
    with FakeModelServer(answer=answer) as running:
        yield running


def write(folder: Path, url: str, judges: list[dict[str, Any]], name: str = "probed") -> Path:
    """Write an experiment with two systems of one model, and some judges of another one."""
    model = {"name": "chat", "base_url": url}
    document = {
        "name": name,
        "data": "sample",
        "store": str(folder / "store"),
        "sample": {"limit": 12, "seed": 3},
        "systems": {
            "a": {"generator": {**model, "model": "small"}},
            "b": {"generator": {**model, "model": "small", "max_tokens": 30}},
        },
        "settings": ["none", "gold"],
        "metrics": ["Match"],
        "correct": "Match",
        "judges": [
            {"model": {**model, "model": "judge"}, "structured": False, **j} for j in judges
        ],
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


TWO = [{"name": "RB_llm"}, {"name": "criterion", "text": "The answer is short", "scale": "1-10"}]


def run(*arguments: object) -> Result:
    """Run the command line; errors are raised."""
    line = [str(one) for one in arguments]
    return CliRunner().invoke(root, line, catch_exceptions=False, standalone_mode=False)


def document(*arguments: object) -> Any:
    """Return the JSON of a command."""
    return json.loads(run(*arguments, "--json").stdout)


def test_a_probe_is_planned_measured_kept_and_repeated_without_calls(
    tmp_path: Path, server: FakeModelServer
) -> None:
    """The plan makes no call; a second probe makes none."""
    path = write(tmp_path, server.url, TWO)
    load_experiment(path).run()
    asked = sum(server.asked.values())
    probe = ("judge", "probe", path, "--judge", "RB_llm", "--data", path, "--limit", 8)

    plan = document(*probe, "--plan")
    assert sum(server.asked.values()) == asked
    assert plan["calls_at_most"] >= 8 * 9
    assert plan["items"] == 8

    first, second = document(*probe), document(*probe)
    assert first["judge"] == "RB_llm"
    assert 0 < first["calls"] <= plan["calls_at_most"]
    assert second.pop("calls") == 0
    assert second == {k: v for k, v in first.items() if k != "calls"}
    flagged = {one["probe"] for one in first["probes"] if one["flagged"]}
    assert "long" in flagged
    assert {"probe", "gain", "interval", "n", "flagged"} <= set(first["probes"][0])
    assert "flagged beside every number" in run(*probe).stdout
    assert "at most" in run(*probe).stderr


def test_a_flagged_judge_is_marked_wherever_its_numbers_are(
    tmp_path: Path, server: FakeModelServer
) -> None:
    """The other judge of the experiment is not marked, and nothing is before the probe."""
    path = write(tmp_path, server.url, TWO)
    load_experiment(path).run()
    assert NOTE not in run("show", path).stdout
    run("judge", "probe", path, "--judge", "RB_llm", "--data", path)

    shown = run("show", path).stdout
    assert "RB_llm†" in shown
    assert "RB_llm/10†" in shown
    assert "criterion-the-answer-is-short†" not in shown
    assert f"{NOTE} (n" in shown
    found = document("show", path)
    marked = {row["metric"] for row in found["leaderboard"] if NOTE in row.get("judge_note", "")}
    assert marked == {"RB_llm", "RB_llm/10"}
    assert [one["flagged"] for one in found["judges"]] == [True, False]
    assert any(NOTE in line for line in found["remarks"])

    report = tmp_path / "report.html"
    run("report", path, "-o", report)
    assert "RB_llm†" in report.read_text()
    assert report.read_text().count(NOTE) > 3

    compared = ("compare", f"{path}:a:gold", f"{path}:b:gold", "--metrics", "RB_llm,Match")
    assert "NOTE: RB_llm gains" in run(*compared).stdout
    metrics = document(*compared)["metrics"]
    assert NOTE in metrics["RB_llm"]["judge_notes"][0]
    assert metrics["Match"]["judge_notes"] == []

    board = ("leaderboard", path, "--metric", "RB_llm")
    assert "† RB_llm gains" in run(*board).stdout
    assert all(cell["judge_notes"] for cell in document(*board)["cells"])

    view = StoreView(tmp_path / "store")
    pages = [
        experiment_document(view, PageQuery("/experiment/probed", {"name": "probed"})),
        judges_page(view, PageQuery("/judges", {}, {"experiment": "probed"})),
        leaderboard_page(
            view, PageQuery("/leaderboard", {}, {"metric": "RB_llm", "setting": "gold"})
        ),
        compare_page(view, PageQuery("/compare", {}, {"a": "probed:a:gold", "b": "probed:b:gold"})),
    ]
    assert all(NOTE in str(page) for page in pages)


def test_a_probe_of_an_older_prompt_is_told_and_flags_nothing(
    tmp_path: Path, server: FakeModelServer
) -> None:
    """Another prompt is another judge; another model is not mentioned."""
    path = write(tmp_path, server.url, TWO[:1])
    load_experiment(path).run()
    run("judge", "probe", path, "--data", path, "--only", "long")
    own = (
        "Rate it from 1 to 10.\n\n============ gold answers\n{gold}\n============ answer\n{answer}"
    )
    path = write(tmp_path, server.url, [{"name": "RB_llm", "user": own}])
    load_experiment(path).run()

    shown = run("show", path).stdout
    assert "Judge RB_llm was probed with another prompt on 20" in shown
    assert "†" not in shown
    assert [one["flagged"] for one in document("show", path)["judges"]] == [False]

    model = {"name": "chat", "base_url": server.url, "model": "other"}
    path = write(tmp_path, server.url, [{"name": "RB_llm", "model": model}])
    load_experiment(path).run()
    assert "probed" not in run("show", path).stdout.replace("probed:", "").replace(
        "experiment probed", ""
    )


def test_what_cannot_be_probed_is_refused(tmp_path: Path, server: FakeModelServer) -> None:
    """Two judges without a choice, an unknown probe, no results, no wrong answer."""
    path = write(tmp_path, server.url, TWO)

    with pytest.raises(ConfigError, match="has 2 judges: name one with --judge"):
        run("judge", "probe", path, "--data", path)
    with pytest.raises(ConfigError, match="unknown probe 'lon'"):
        run("judge", "probe", path, "--judge", "RB_llm", "--data", path, "--only", "lon")
    with pytest.raises(Exception, match="no experiment 'probed'"):
        run("judge", "probe", path, "--judge", "RB_llm", "--data", path)
    right = yaml.safe_load(path.read_text())
    right["systems"], right["name"] = {"a": {"generator": "gold"}}, "right"
    (tmp_path / "right.yaml").write_text(yaml.safe_dump(right))
    load_experiment(tmp_path / "right.yaml").run()
    with pytest.raises(ConfigError, match="right has no answer to probe a judge with"):
        run("judge", "probe", path, "--judge", "RB_llm", "--data", tmp_path / "right.yaml")


def test_the_former_option_still_measures_orders(tmp_path: Path, server: FakeModelServer) -> None:
    """It points to the new command; its JSON has the former keys."""
    rows = ["id,question,correct_answers,model_answer,truthfulness"]
    rows += [f"q{n}__m,Question {n}?,gold,A: wrong {n},no" for n in range(6)]
    (tmp_path / "human_judgements.en.csv").write_text("\n".join(rows))
    judge = {"name": "RB_llm", "model": {"name": "chat", "base_url": server.url, "model": "j"}}
    (tmp_path / "judge.yaml").write_text(yaml.safe_dump(judge))
    line = (
        "judge",
        "check",
        tmp_path / "judge.yaml",
        "--data",
        tmp_path,
        "--store",
        tmp_path / "s",
    )

    for option in ("--prompt-injection", "--attack"):
        done = run(*line, option, "--json")
        assert "now: ragstone judge probe" in done.stderr
        (found,) = json.loads(done.stdout)
        assert [one["attack"] for one in found["steered"]] == [
            "verdict", "json", "command", "closing tag",
        ]  # fmt: skip
