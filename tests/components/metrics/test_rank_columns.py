"""Ranks from columns, against the ranks from mappings."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.components.metrics import rank_columns
from ragstone.components.metrics.rank_columns import rank_any
from ragstone.components.metrics.ranking_batch import RankingBatch, first_at_least, rank_judged
from ragstone.data.readers.run_columns import QrelColumns, RunColumns, qrel_columns, run_columns
from ragstone.data.readers.trec import read_qrels, read_run
from ragstone.evaluation.score_files import evaluate_run

_SCORES = ["0.5", "0.5", "0.50000000001", "-1e300", "-2e300", "1e300", "0", "-0.0", "3", "1e-30"]
_METRICS = ["nDCG@10", "R@100", "MAP", "MRR", "P@5", "bpref", "R(level=document)@5"]


def _write(folder: Path, seed: int) -> tuple[Path, Path]:
    """Write a run full of ties in any order of lines, and qrels that share some queries with it."""
    draw = random.Random(seed)  # noqa: S311 -- rankings, no secrets
    ids = [f"p{n}" for n in range(30)] + [f"a-long-passage-id-{n}" for n in range(30)]
    lines, judged = list[str](), list[str]()
    for query in range(12):
        for passage in draw.sample(ids, draw.randrange(1, 40)):
            score = draw.choice([*_SCORES, f"{draw.gauss(0, 1)!r}"])
            lines.append(f"q{query} Q0 {passage} 0 {score} x\n")
        for passage in draw.sample(ids, 15):
            judged.append(
                f"q{query + 2} 0 {passage} {draw.choice('0012-')[0].replace('-', '-1')}\n"
            )
    if seed % 2:
        draw.shuffle(lines)
        draw.shuffle(judged)
    (folder / "run").write_text("".join(lines))
    (folder / "qrels").write_text("".join(judged))
    return folder / "run", folder / "qrels"


def _entries(ranks: RankingBatch) -> dict[str, list[int]]:
    return {
        field.name: np.atleast_1d(getattr(ranks, field.name)).tolist()
        for field in fields(ranks)
        if field.name != "source"
    }


@pytest.mark.parametrize("seed", range(8))
def test_ranks_are_those_of_mappings(tmp_path: Path, seed: int) -> None:
    """Every rank and grade, for all queries, for some, and without a run."""
    run_file, qrels_file = _write(tmp_path, seed)
    run, qrels = run_columns(run_file), qrel_columns(qrels_file)
    assert isinstance(run, RunColumns)
    assert isinstance(qrels, QrelColumns)
    plain_run, plain_qrels = read_run(run_file), read_qrels(qrels_file)
    for query_ids in (list(qrels), ["q5", "q0", "none", "q13"], []):
        ours, theirs = (
            rank_any(qrels, run, query_ids),
            rank_judged(plain_qrels, plain_run, query_ids),
        )
        assert _entries(ours) == _entries(theirs)
        assert list(ours.pairs()) == list(theirs.pairs())
        empty = rank_any(qrels, {}, query_ids), rank_judged(plain_qrels, {}, query_ids)
        assert _entries(empty[0].perfect) == _entries(empty[1].perfect)


@pytest.mark.parametrize("seed", range(4))
def test_an_evaluation_is_that_of_mappings(tmp_path: Path, seed: int) -> None:
    """Means, intervals, scores of queries, ceilings and notes are equal to the last bit."""
    run_file, qrels_file = _write(tmp_path, seed)
    for options in ({}, {"document_of": lambda passage: passage[:3]}, {"failures": "bounds"}):
        metrics = _METRICS[:-1]
        columns = evaluate_run(qrel_columns(qrels_file), run_columns(run_file), metrics, **options)
        mapped = evaluate_run(read_qrels(qrels_file), read_run(run_file), metrics, **options)
        assert columns.to_dict() == mapped.to_dict()
        assert columns.scores == mapped.scores
        assert (columns.missing, columns.extra) == (mapped.missing, mapped.extra)
        assert columns.ceilings == mapped.ceilings
        assert str(columns) == str(mapped)


def test_different_passages_with_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes are compared where keys are equal, and mappings take over."""
    (tmp_path / "run").write_text("q Q0 a 1 2 x\nq Q0 b 2 1 x\n")
    (tmp_path / "qrels").write_text("q 0 b 1\n")
    run, qrels = run_columns(tmp_path / "run"), qrel_columns(tmp_path / "qrels")
    assert isinstance(run, RunColumns)
    assert isinstance(qrels, QrelColumns)
    run.lines.keys[:] = qrels.lines.keys[0]
    asked = []

    def counted(*given: Any, **options: Any) -> RankingBatch:
        asked.append(given)
        return rank_judged(*given, **options)

    monkeypatch.setattr(rank_columns, "rank_judged", counted)
    assert rank_any(qrels, run, ["q"]).rank.tolist() == [2]
    assert len(asked) == 1


def test_the_first_position_of_a_value_within_bounds() -> None:
    """The upper bound if all values are below, also at the end of the array."""
    ordered, wanted = np.array([1.0, 2.0, 2.0, 5.0]), np.array([2.0, 9.0, 9.0, 0.0])

    found = first_at_least(ordered, wanted, np.array([0, 0, 3, 2]), np.array([4, 2, 4, 4]))

    assert found.tolist() == [1, 2, 4, 2]
