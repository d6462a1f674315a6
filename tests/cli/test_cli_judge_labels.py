"""`ragstone judge check`, `correlate` and `calibrate` with people's ratings of an experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.fakes.made_results import made_results

from ragstone.cli.judge import command
from ragstone.results.reader import StoredResults
from ragstone.testing import FakeModelServer

SETTING = "gold+noise(3)"


@pytest.fixture
def results(tmp_path: Path) -> StoredResults:
    """Return a made-up experiment of 24 queries."""
    return made_results(tmp_path / "store", queries=24)


def experiment(folder: Path, url: str = "http://localhost:1/v1", *judges: str) -> Path:
    """Write the experiment's file with some judges."""
    model = {"name": "chat", "model": "fake", "base_url": url}
    document = {
        "name": "made",
        "data": "sample",
        "store": str(folder / "store"),
        "systems": {"s": {"generator": model}},
        "settings": ["none"],
        "metrics": ["F1"],
        "judges": [{"name": name, "model": model, "structured": False} for name in judges],
    }
    path = folder / "e.yaml"
    path.write_text(yaml.safe_dump({k: v for k, v in document.items() if v}))
    return path


def ratings(folder: Path, results: StoredResults, **fields: Any) -> Path:
    """Write ratings of the answers of the first system under one setting."""
    base = {"system": results.systems[0], "setting": SETTING, "rater": "ann", "property": "p"}
    rows = [
        {"query_id": query_id, **base, "value": 1 + place % 4, **fields}
        for place, query_id in enumerate(results.queries)
    ]
    path = folder / "ratings.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def run(*arguments: object) -> Result:
    """Run a command of `ragstone judge`."""
    return CliRunner().invoke(command, [str(one) for one in arguments])


def test_a_judge_is_checked_on_kept_answers(tmp_path: Path, results: StoredResults) -> None:
    """Ratings of other queries are named; the judge may be outside of the experiment."""
    labels = ratings(tmp_path, results)
    other = json.loads(labels.read_text().splitlines()[0]) | {"query_id": "elsewhere"}
    labels.write_text(labels.read_text() + json.dumps(other) + "\n")
    with FakeModelServer(answer=lambda _: "Rating: [[8]]") as server:
        file = experiment(tmp_path, server.url, "RB_llm")
        given = ("check", file, "--labels", labels, "--scale", "1-4", "--store", tmp_path / "calls")
        shown = run(*given, "--json")
        judge = tmp_path / "judge.yaml"
        spec = {"name": "conversation-rating", "model": {"name": "chat", "model": "fake"}}
        spec["model"]["base_url"] = server.url  # type: ignore[index]
        judge.write_text(yaml.safe_dump(spec))
        outside = run(*given, "--judge", judge)

    assert shown.exit_code == 0, shown.output
    (document,) = json.loads(shown.stdout)
    assert document["question"] == "people's p"
    assert document["quality"]["parsed"]["n"] > 10
    assert "ratings of queries that 'made' does not have are left out: 1" in shown.stderr
    assert "conversation-rating by" in outside.output


def test_passages_and_pairs_are_checked(tmp_path: Path, results: StoredResults) -> None:
    """A judge of passages sees the rated passage, a judge of pairs both answers."""
    with FakeModelServer(answer=lambda _: "1: helps") as server:
        file = experiment(tmp_path, server.url, "context-relevance", "pairwise")
        labels = ratings(tmp_path, results, value="yes")
        rows = [json.loads(line) for line in labels.read_text().splitlines()]
        for place, row in enumerate(rows):
            row |= {"passage_id": f"p{place}-gold", "value": "yes" if place % 2 else "no"}
        labels.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        given = ("--labels", labels, "--store", tmp_path / "calls", "--json")
        passages = run("check", file, "--judge", "context-relevance", *given)
    with FakeModelServer(answer=lambda _: "Verdict: [[first]]") as server:
        file = experiment(tmp_path, server.url, "context-relevance", "pairwise")
        ratings(tmp_path, results, against=results.systems[1], value="a")
        first, *others = labels.read_text().splitlines(keepends=True)
        labels.write_text("".join([first.replace('"a"', '"tie"'), *others]))
        pairs = run("check", file, "--judge", "pairwise", *given)

    (of_passages,), (of_pairs,) = (json.loads(one.stdout) for one in (passages, pairs))
    assert of_passages["quality"]["parsed"]["n"] == 24
    pairs_read = of_pairs["quality"]["parsed"]
    assert pairs_read["n"] == pairs_read["count"] > 15
    assert of_pairs["quality"]["confusion"]["tie"] == {"tie": 1}
    assert "rated answers that failed are left out: 2" in pairs.stderr


def test_metrics_are_correlated_with_ratings(tmp_path: Path, results: StoredResults) -> None:
    """With the ceiling of one rater with the others; --against is another question."""
    labels = ratings(tmp_path, results)
    second = labels.read_text().replace('"ann"', '"ben"')
    labels.write_text(labels.read_text() + second)
    file = experiment(tmp_path)

    shown = run("correlate", file, "--labels", labels, "--json")
    both = run("correlate", file, "--labels", labels, "--against", "F1")
    neither = run("correlate", file)

    document = json.loads(shown.stdout)
    assert document["ceiling"] == pytest.approx(1)
    assert {row["metric"] for row in document["rows"]} >= {"F1", "Match"}
    assert "--against or --labels" in str(both.exception)
    assert "--against is missing, or --labels. Known:" in str(neither.exception)


def test_a_mean_is_calibrated_by_ratings(tmp_path: Path, results: StoredResults) -> None:
    """Labels of the short form and ratings on a scale give the same means."""
    file, labels = experiment(tmp_path), ratings(tmp_path, results)
    rows = [json.loads(line) for line in labels.read_text().splitlines()][:12]
    labels.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    short = tmp_path / "short.jsonl"
    for row in rows:
        del row["rater"], row["property"]
        row["value"] = (row["value"] - 1) / 3
    short.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    given = ("calibrate", file, "--metric", "F1", "--json", "--labels")
    one, other = run(*given, labels, "--scale", "1-4"), run(*given, short)

    assert one.stdout == other.stdout
    calibrated = [row["calibrated"] for row in json.loads(one.stdout) if row["calibrated"]]
    assert calibrated
    outside = run(*given, labels, "--scale", "1-3")
    assert "ratings.jsonl, line 4: the value 4 of 'p'" in str(outside.exception)


def test_one_source_is_needed(tmp_path: Path, results: StoredResults) -> None:
    """An experiment without judges needs the name of one."""
    labels, file = ratings(tmp_path, results), experiment(tmp_path)

    assert "give one of --data" in run("check", file, "--labels", labels, "--data", "x").output
    assert "has no judges: name one" in str(run("check", file, "--labels", labels).exception)
    language = run("check", file, "--labels", labels, "--language", "en")
    assert "--language is an option of --data" in language.output
