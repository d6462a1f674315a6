"""`ragstone compare`: a table and a verdict for people, one JSON object for machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.compare import command
from ragstone.errors import ConfigError, RagstoneError


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return three files of scores: 40 queries, one failed in the second."""
    paths = []
    for place, name in enumerate(("old", "new", "tuned")):
        rows = [
            {"query_id": f"q{i}", "metric": "EM", "value": None if (i, place) == (3, 1)
             else float(i % 4 <= place)} for i in range(40)
        ]  # fmt: skip
        path = tmp_path / f"{name}.scores.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows))
        paths.append(str(path))
    return paths


def run(*arguments: str) -> str:
    """Return the output of the command, or raise its error."""
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    if isinstance(result.exception, RagstoneError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_people_get_means_intervals_and_a_verdict(files: list[str]) -> None:
    """The text has a row per system, the queries compared, and the verdict."""
    output = run(*files[:2])
    excluded = run(*files[:2], "--failures", "exclude")

    assert "EM: 40 queries compared" in output
    assert "EM: 39 queries compared, 1 left out" in excluded
    assert "new is better than old by 0.25" in output
    assert "[" in next(line for line in output.splitlines() if line.startswith("old "))


def test_machines_get_one_object(files: list[str]) -> None:
    """The JSON has the documented keys, with values unrounded."""
    found: dict[str, Any] = json.loads(run(*files, "--json", "--baseline", "old"))

    one = found["metrics"]["EM"]
    assert found["systems"] == ["old", "new", "tuned"]
    assert (found["tests"], found["correction"], found["clusters"]) == (4, "holm", None)
    assert (one["n"], one["left_out"], one["absent"]["new"]) == (40, 0, 0)
    assert one["systems"]["new"]["failed"] == 1
    assert one["systems"]["old"]["mean"] == 10 / 40
    assert found["metrics"]["failure rate"]["systems"]["new"]["mean"] == 1 / 40
    assert {"a", "b", "difference", "interval", "p", "adjusted_p", "verdict", "more_queries",
            "minimum_detectable", "cohens_d", "mcnemar"} <= set(one["pairs"][0])  # fmt: skip
    assert [place["rank"] for place in one["ranks"]] == [1, 2, 3]


def test_clusters_come_from_a_file_or_from_the_data(files: list[str], tmp_path: Path) -> None:
    """Clusters are read from a file, or from the label `conversation` of the queries."""
    (tmp_path / "clusters.tsv").write_text("\n".join(f"q{i}\tc{i // 4}" for i in range(40)))
    data = tmp_path / "data"
    data.mkdir()
    queries = [{"_id": f"q{i}", "text": "?", "conversation": f"c{i // 4}"} for i in range(40)]
    (data / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (data / "corpus.jsonl").write_text('{"_id": "p", "text": "x"}\n')

    by_file = run(*files[:2], "--clusters", str(tmp_path / "clusters.tsv"))
    by_data = json.loads(run(*files[:2], "--data", str(data), "--json"))

    assert "in 10 clusters" in by_file
    assert by_data["clusters"] == "conversation"
    assert by_data["metrics"]["EM"]["pairs"][0]["clusters"] == 10


def test_systems_can_be_named(files: list[str]) -> None:
    """NAME=FILE names a system, and is required for two files of one name."""
    assert "b is better than a" in run(f"a={files[0]}", f"b={files[1]}")
    with pytest.raises(ConfigError, match="NAME=FILE"):
        run(files[0], files[0])


def test_a_label_without_data_is_refused(files: list[str]) -> None:
    """The message names the missing option."""
    with pytest.raises(ConfigError, match="--data"):
        run(*files[:2], "--clusters", "conversation")


def test_texts_of_the_rows_are_shown_side_by_side(tmp_path: Path) -> None:
    """A file of scores may carry query, gold answers, answer and passages on any line."""
    paths = []
    for name, answer, value in (("old", "Cusco", 0), ("new", "Lima", 1)):
        row = {"query_id": "q1", "metric": "EM", "value": value, "query": "Capital of Peru?",
               "gold_answers": ["Lima"], "answer": answer, "passage_ids": ["p1", "p2"]}  # fmt: skip
        same = {"query_id": "q2", "metric": "EM", "value": 1}
        path = tmp_path / f"{name}.jsonl"
        path.write_text(f"{json.dumps(row)}\n{json.dumps(same)}\n")
        paths.append(str(path))
    text = run(*paths)
    found = json.loads(run(*paths, "--json"))

    assert "new is better than old on 1 queries by EM, 1 shown" in text
    for line in ("query: Capital of Peru?", "gold: Lima", "old (0): Cusco", "passages: p1, p2"):
        assert line in text
    assert list(found["flipped"]) == ["q1"]
    one = found["flipped"]["q1"]
    assert (one["query"], one["gold_answers"]) == ("Capital of Peru?", ["Lima"])
    assert one["systems"]["new"]["answer"] == "Lima"
    assert one["systems"]["old"]["values"] == {"EM": 0}
    (change,) = one["changes"]
    evidence = "the same passages; prompt and generator are not known"
    said = {"outcome": "better", "cause": "undecided", "evidence": evidence}
    assert change == {"metric": "EM", "a": "old", "b": "new", **said}
    assert found["usage"]["old"]["not_known"]["cost"] == "1 of 1 answers report none"
    assert (found["headline"], found["queries"]) == ("EM", 2)


def test_differences_are_drawn_and_written_as_a_page(files: list[str], tmp_path: Path) -> None:
    """The terminal draws an interval per metric; Markdown and HTML are files."""
    page, markdown = tmp_path / "c.html", tmp_path / "c.md"
    text = run(*files[:2], "--html", str(page), "--markdown", str(markdown))

    drawn = [line for line in text.splitlines() if "├" in line and "●" in line]
    assert [line.split()[0] for line in drawn] == ["EM", "failure"]
    assert text.startswith("EM: new is better than old by 0.25")
    assert "old: seconds, tokens, cost not known: its scores carry no answers" in text
    assert "<h1" in page.read_text()
    assert markdown.read_text().startswith("### EM: new is better")
    assert "├" not in markdown.read_text()
