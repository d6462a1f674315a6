"""TREC runs and qrels."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ragstone.data.readers.trec import (
    best_grades,
    qrel_lines,
    read_qrels,
    read_run,
    read_subtopics,
    run_lines,
)
from ragstone.errors import DatasetError
from ragstone.evaluation.score_files import evaluate_run
from ragstone.types import Ranking


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 p2 2 0.5", "line 2: expected the six columns of a TREC run.*found 5"),
        ("q1 Q0 p2 2 high x", "line 2: the score .* must be a finite number, found 'high'"),
        ("q1 Q0 p2 2 0.5 x y", "line 2: expected the six columns of a TREC run.*found 7"),
        ("q1 Q0 p2 2 inf x", "line 2: the score .* found 'inf'"),
        ("q1 Q0 p2 2 nan x", "line 2: the score .* found 'nan'"),
        ("q1 Q0 p1 2 0.5 x", "line 2: the passage 'p1' occurs twice .* query 'q1'"),
    ],
)
def test_a_malformed_run_names_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    """The error names the file, the line and the value."""
    path = tmp_path / "bad.trec"
    path.write_text(f"q1 Q0 p1 1 1 x\n{line}\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=rf"bad\.trec, {message}"):
        read_run(path)


def test_scores_decide_not_ranks(tmp_path: Path) -> None:
    """The rank column is ignored; tabs and blank lines are fine."""
    path = tmp_path / "run.trec"
    path.write_text("q\tQ0\ta\t1\t-2\tx\n\nq\tQ0\tb\t2\t1e1\tx\n", encoding="utf-8")
    ranking = read_run(path)["q"]
    assert (list(ranking.passage_ids), list(ranking.scores)) == (["b", "a"], [10.0, -2.0])


@pytest.mark.parametrize(
    "text",
    ["q1 0 p1 2\nq1 0 p2 0\n", "query-id\tcorpus-id\tscore\nq1\tp1\t2\nq1\tp2\t0\n"],
)
def test_qrels_of_both_layouts(tmp_path: Path, text: str) -> None:
    """TREC's four columns and BEIR's three with a header give the same judgements."""
    path = tmp_path / "qrels"
    path.write_text(text, encoding="utf-8")
    assert read_qrels(path) == {"q1": {"p1": 2, "p2": 0}}


def test_malformed_qrels_name_file_and_line(tmp_path: Path) -> None:
    """A grade that is not a whole number is an error that contains it."""
    path = tmp_path / "bad.qrels"
    path.write_text("q1 0 p1 1\nq1 0 p2 yes\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"bad\.qrels, line 2.*'yes'"):
        read_qrels(path)


def _hard_ranking(seed: int) -> Ranking:
    """Ids in any order, ties, rising scores, and scores that are equal in float32."""
    draw = random.Random(seed)  # noqa: S311 -- rankings, no secrets
    ids = draw.sample([f"p{n}" for n in range(100)] + ["ä", "Z", "z"], 40)
    kinds = [0.5, 0.5, 0.5 + 1e-12, draw.uniform(-1, 1), 3, 1e-30, -40_000_001.0]
    scores = [draw.choice(kinds) for _ in ids]
    return Ranking(ids, scores if seed % 2 else sorted(scores, reverse=True))


@pytest.mark.parametrize("seed", range(6))
def test_a_run_is_measured_alike_everywhere(tmp_path: Path, seed: int) -> None:
    """Rank by rank: the file, the file read again, our metrics before, and trec_eval."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    ranking, path = _hard_ranking(seed), tmp_path / "run.trec"
    path.write_bytes(b"".join(run_lines({"q1": ranking, "none": Ranking()}, "mine")))
    written = {line.split()[2]: int(line.split()[3]) for line in path.read_text().splitlines()}
    assert sorted(written.values()) == list(range(1, 41))
    found = read_run(path)
    assert list(found) == ["q1"]
    scores = dict(zip(found["q1"].passage_ids, found["q1"].scores, strict=True))
    assert scores == dict(zip(ranking.passage_ids, ranking.scores, strict=True))
    with path.open() as file:
        theirs = pytrec_eval.parse_run(file)
    for passage_id, rank in written.items():
        judged = {"q1": {passage_id: 1}}
        scored = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(theirs)
        assert scored["q1"]["recip_rank"] == pytest.approx(1 / rank)
        for run in ({"q1": ranking}, found):
            assert evaluate_run(judged, run, ["MRR@100"])["MRR@100"].mean == pytest.approx(1 / rank)


@pytest.mark.parametrize(("query_id", "passage_id"), [("q 1", "p"), ("q", "p 1"), ("", "p")])
def test_an_id_that_would_break_the_columns(query_id: str, passage_id: str) -> None:
    """It is named; the file would not be read as it was meant."""
    with pytest.raises(DatasetError, match="contains white space"):
        list(run_lines({query_id: Ranking([passage_id], [1.0])}, "x"))


def test_qrels_there_and_back(tmp_path: Path) -> None:
    """Judgements of nought are kept."""
    qrels = {"q1": {"p1": 2, "p2": 0}, "q2": {"p3": 1}}
    (tmp_path / "qrels.txt").write_bytes(b"".join(qrel_lines(qrels)))
    assert read_qrels(tmp_path / "qrels.txt") == qrels


def test_grades_on_subtopics(tmp_path: Path) -> None:
    """A passage may have one grade on each; the highest one is its grade."""
    path = tmp_path / "q.txt"
    path.write_text("q1 1 p1 0\nq1 2 p1 2\nq1 1 p1 0\nq2 1 p2 -1\nq1 1 p3 1\n")
    found = read_subtopics(path)
    assert found == {"q1": {"1": {"p1": 0, "p3": 1}, "2": {"p1": 2}}, "q2": {"1": {"p2": -1}}}
    assert best_grades(found) == {"q1": {"p1": 2, "p3": 1}, "q2": {"p2": -1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 1 p 1\nq 2 p\n", "line 2: expected query id, subtopic, passage id and grade, found"),
        ("q 1 p 1 x\n", "line 1: expected query id, subtopic, passage id and grade"),
        ("q 1 p x\n", "line 1: the score must be a whole number"),
        ("q 1 p 1\nq 2 p 1\nq 1 p 2\n", "line 3: query 'q', subtopic '1' .* grade 2, and 1 before"),
        ("q 0 p 1\nr 0 p 1\n", "all lines have the same second column"),
    ],
)
def test_malformed_subtopics(tmp_path: Path, text: str, message: str) -> None:
    """The error has the line and the value."""
    (tmp_path / "q.txt").write_text(text)
    with pytest.raises(DatasetError, match=message):
        read_subtopics(tmp_path / "q.txt")
