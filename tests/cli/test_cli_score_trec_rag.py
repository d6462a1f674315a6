"""`ragstone score --as trec-rag`: the promised command, each value by hand, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ragstone.cli.score import command
from ragstone.errors import DatasetError
from ragstone.testing import FakeModelServer

ROWS: list[dict[str, Any]] = [
    {
        "run_id": "mine",
        "topic_id": "q1",
        "references": ["p1", "p2"],
        "answer": [
            {"text": "It sank in 1912. That was in April.", "citations": [0, 1]},
            {"text": "It was old.", "citations": [1]},
            {"text": "It was big.", "citations": []},
        ],
    },
    {"run_id": "mine", "topic_id": "q2", "references": [], "answer": []},
]
QUERIES = [
    {
        "_id": "q1",
        "text": "When did it sink?",
        "vital_nuggets": ["In 1912."],
        "okay_nuggets": ["In April.", "At night."],
    },
    {"_id": "q2", "text": "Where is Lisbon?", "vital_nuggets": ["On the Tagus."]},
    {"_id": "q3", "text": "Who?", "vital_nuggets": ["A."]},
]
PASSAGES = [{"_id": "p1", "text": "It sank in 1912."}, {"_id": "p2", "text": "It was new."}]
METRICS = "nuggets,citation-precision,citation-recall"
MEANS = {
    "nuggets": (1 + 0.5 * 0.5) / (1 + 2 * 0.5),
    "nuggets:all": 1.5 / 3,
    "nuggets:vital": 1.0,
    "nuggets:strict-weighted": 1 / 2,
    "nuggets:strict": 1 / 3,
    "nuggets:strict-vital": 1.0,
    "citation-recall": (1 + 0 + 0) / 3,
}
"""Of the first query; the other two have 0 in all metrics."""


def grades(messages: object) -> str:
    """Grade three facts as support, partial and none, and sentences by their passage."""
    text = str(messages)
    if "numbered fact" in text:
        return json.dumps({"1": "support", "2": "partial", "3": "none"})
    return "full" if "1912" in text.partition("passages it cites")[2] else "none"


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Return a file of JSON lines."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return the run, and the folder of the data set."""
    write(tmp_path / "data" / "queries.jsonl", QUERIES)
    write(tmp_path / "data" / "corpus.jsonl", PASSAGES)
    return write(tmp_path / "run.jsonl", ROWS), tmp_path / "data"


def score(run: Path, *arguments: str, metrics: str = METRICS) -> Result:
    """Run the command with a model that grades; errors of Ragstone are raised."""
    with FakeModelServer(answer=grades) as server:
        given = [str(run), "--as", "trec-rag", "--metrics", metrics, "--json", *arguments]
        model = ["--judge", f"{server.url}#m", "--store", str(run.parent / "store")]
        return CliRunner().invoke(command, [*given, *model], catch_exceptions=False)


def test_nuggets_and_citations_of_a_run(files: tuple[Path, Path]) -> None:
    """The empty answer and the missing topic have 0; an answer without citations no precision."""
    run, data = files
    result = score(run, "--data", str(data))

    found = json.loads(result.stdout)
    for name, value in MEANS.items():
        assert found[name]["mean"] == pytest.approx(value / 3), name
        assert (found[name]["n"], found[name]["failed"]) == (3, 1)
    precision = found["citation-precision"]
    assert (precision["mean"], precision["n"]) == (pytest.approx((1 + 0) / 2 / 2), 2)
    assert "1 queries missing in the answers of mine, counted as failed: q3" in result.stderr


def test_nuggets_of_a_file(files: tuple[Path, Path]) -> None:
    """Without a data set, the queries of the file are scored; the rows have the texts."""
    run, data = files
    texts = {one["_id"]: one["text"] for one in PASSAGES}
    run = write(run, [{**row, "segments": texts} for row in ROWS])
    lines = [
        {
            "qid": "q1",
            "query": "When?",
            "nuggets": [
                {"text": "In 1912.", "importance": "vital"},
                {"text": "In April.", "importance": "okay"},
                {"text": "At night.", "importance": "okay"},
            ],
        }
    ]
    nuggets = write(run.parent / "nuggets.jsonl", lines)

    alone = score(run, "--nuggets", str(nuggets))
    assert json.loads(alone.stdout)["nuggets"]["mean"] == pytest.approx(MEANS["nuggets"])
    assert "not in the gold answers, left out" in alone.stderr

    both = score(run, "--data", str(data), "--nuggets", str(nuggets))
    assert json.loads(both.stdout)["nuggets"]["n"] == 3
    write(nuggets, [*lines, {**lines[0], "qid": "q9"}])
    with pytest.raises(DatasetError, match=r"nuggets.jsonl, line 2: the data have no query 'q9'"):
        score(run, "--data", str(data), "--nuggets", str(nuggets))


def test_texts_that_nobody_has_are_told_before_anything_is_asked(files: tuple[Path, Path]) -> None:
    """Only judges that read passages need them."""
    run, data = files
    with pytest.raises(DatasetError, match=r"texts of 2 cited references are unknown: 'p1' .*--da"):
        score(run, "--gold", str(data / "queries.jsonl"))
    found = score(run, "--gold", str(data / "queries.jsonl"), metrics="nuggets")
    assert json.loads(found.stdout)["nuggets"]["n"] == 3


def test_bad_runs_are_named(files: tuple[Path, Path]) -> None:
    """An absent reference, a topic twice, topics that the data lack."""
    run, data = files
    bad = [{**ROWS[0], "answer": [{"text": "One.", "citations": [2]}]}]
    with pytest.raises(
        DatasetError, match=r"run.jsonl, line 1: sentence 1: it cites reference 2, which is absent"
    ):
        score(write(run, bad), "--data", str(data))
    with pytest.raises(DatasetError, match=r"line 2: query 'q1' has a second answer"):
        score(write(run, [ROWS[0], ROWS[0]]), "--data", str(data))
    more = score(write(run, [*ROWS, {**ROWS[0], "topic_id": "q9"}]), "--data", str(data))
    assert "1 queries not in the gold answers, left out" in more.stderr
    with pytest.raises(DatasetError, match="q9"):
        score(write(run, [{**ROWS[0], "topic_id": "q9"}]), "--data", str(data))
