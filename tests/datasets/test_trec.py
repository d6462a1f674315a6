"""TREC runs and qrels."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.datasets.trec import read_qrels, read_run
from ragstone.errors import DatasetError


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 p2 2 0.5", "line 2: expected the six columns of a TREC run.*found 5"),
        ("q1 Q0 p2 2 high x", "line 2: the score .* must be a finite number, found 'high'"),
        ("q1 Q0 p2 2 nan x", "line 2: the score .* found 'nan'"),
        ("q1 Q0 p1 2 0.5 x", "line 2: the passage 'p1' stands twice .* query 'q1'"),
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
    """TREC's four columns and BEIR's three with a header say the same."""
    path = tmp_path / "qrels"
    path.write_text(text, encoding="utf-8")
    assert read_qrels(path) == {"q1": {"p1": 2, "p2": 0}}


def test_malformed_qrels_name_file_and_line(tmp_path: Path) -> None:
    """A grade that is no whole number is named."""
    path = tmp_path / "bad.qrels"
    path.write_text("q1 0 p1 1\nq1 0 p2 yes\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"bad\.qrels, line 2.*'yes'"):
        read_qrels(path)
