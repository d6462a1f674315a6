"""`ragstone judge qrels`, and what other commands say of machine-made qrels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import ragstone
from ragstone.cli.judge_qrels import command
from ragstone.cli.rank import command as rank
from ragstone.errors import ConfigError, DatasetError
from ragstone.results.html import render_report
from ragstone.testing import FakeModelServer

RUN = "q1 Q0 p1 1 2.0 t\nq1 Q0 p2 2 1.0 t\nq2 Q0 p2 1 1.0 t\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with two queries, two passages and no qrels, beside a run."""
    folder = tmp_path / "data"
    folder.mkdir()
    rows = [{"_id": f"q{n}", "text": f"Question {n}?", "answers": ["Lima"]} for n in (1, 2)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [{"_id": f"p{n}", "text": f"Passage {n} about Lima."} for n in (1, 2)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "run.trec").write_text(RUN)
    return folder


def qrels(data: Path, *arguments: str, name: str = "qrels.tsv") -> Result:
    """Run the command on the run beside the data."""
    folder = data.parent
    given = [str(data), "-o", str(data / name), "--run", str(folder / "run.trec")]
    store = ["--store", str(folder / "replies")]
    return CliRunner().invoke(command, [*given, *store, *arguments], catch_exceptions=False)


def test_grades_are_kept_marked_and_told(data: Path) -> None:
    """A plan asks nothing, a second file neither; rank, show and report name the model."""
    with FakeModelServer(answer=lambda m: "3" if "Passage 1" in str(m) else "1") as server:
        judge = ("--judge", f'umbrela(model=chat(model=m, base_url="{server.url}"))')
        planned = qrels(data, *judge, "--plan", "--json")
        assert not sum(server.asked.values())
        made = qrels(data, *judge, "--json")
        asked = sum(server.asked.values())
        again = qrels(data, *judge, name="again.tsv")
        assert sum(server.asked.values()) == asked == 3

    assert json.loads(planned.stdout) == {"planned": {"queries": 2, "pairs": 3, "calls": 3}}
    found = json.loads(made.stdout)
    assert (found["pairs"], found["grades"], found["models"]) == (3, {"1": 2, "3": 1}, ["m"])
    assert (data / "again.tsv").read_bytes() == (data / "qrels.tsv").read_bytes()
    assert "3 pairs graded: 2 of grade 1, 1 of grade 3" in again.stdout

    run = str(data.parent / "run.trec")
    ranked = CliRunner().invoke(rank, [run, str(data / "qrels.tsv"), "nDCG@5", "--json"])
    assert json.loads(ranked.stdout)["nDCG@5"]["n"] == 2
    told = "qrels.tsv is machine-made, by umbrela with m (prompt "
    assert f"note: {told}" in ranked.stderr

    file = {"name": "e", "data": str(data), "store": str(data.parent / "store")}
    systems = [{"retriever": "bm25", "generator": "gold"}]
    metrics = ["nDCG@5", "Match"]
    more = {"systems": systems, "settings": ["gold"], "metrics": metrics}
    results = ragstone.load_experiment({**file, **more}).run()
    assert f"NOTE: {told}" in str(results)
    assert told in json.dumps(results.to_dict()["remarks"])
    assert told in render_report(results)


def test_what_cannot_be_graded_is_told_before_anything_is_asked(data: Path) -> None:
    """A judge that grades nothing from 0 to 3, a file that exists, data without pairs."""
    with pytest.raises(ConfigError, match="needs a judge that grades passages from 0 to 3"):
        qrels(data, "--judge", "idk")
    (data.parent / "run.trec").write_text("q9 Q0 p1 1 2.0 t\n")
    with pytest.raises(DatasetError, match="there is nothing to grade"):
        qrels(data)
    (data / "qrels.tsv").write_text("q1\tp1\t1\n")
    with pytest.raises(DatasetError, match=r"qrels.tsv already exists"):
        qrels(data)
