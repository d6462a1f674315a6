"""Nuggets that another program assigned: aggregates without a judge, from its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ragstone.cli.score import command
from ragstone.components.metrics.assigned_nuggets import AssignedNuggets, metrics_of
from ragstone.components.metrics.score import score_answers
from ragstone.core.schemas import rows as table_rows
from ragstone.errors import DatasetError
from ragstone.types import Prediction, Query


def row(qid: str, *nuggets: tuple[str, str], run_id: str = "mine") -> dict[str, Any]:
    """Return a row of the nuggetizer with nuggets of an importance and an assignment."""
    listed = [
        {"text": f"Fact {n}.", "importance": importance, "assignment": assignment}
        for n, (importance, assignment) in enumerate(nuggets)
    ]
    fields = {"query": f"{qid}?", "answer_text": "An answer.", "response_length": 2}
    return {"qid": qid, "run_id": run_id, **fields, "nuggets": listed}


ROWS = [
    row("q1", ("vital", "support"), ("vital", "partial_support"), ("okay", "not_support")),
    row("q2", ("okay", "partial_support")),
]


def score(path: Path, rows: list[dict[str, Any]], *arguments: str) -> Result:
    """Run the command on these rows; errors of Ragstone are raised."""
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return CliRunner().invoke(command, [str(path), *arguments], catch_exceptions=False)


@pytest.mark.parametrize("options", [(), ("--as", "nuggetizer", "--metrics", "nuggets")])
def test_rows_of_the_nuggetizer_need_no_judge(tmp_path: Path, options: tuple[str, ...]) -> None:
    """All six aggregates; the second query has no vital nugget."""
    found = json.loads(score(tmp_path / "rows.jsonl", ROWS, *options, "--json").stdout)

    means = {name: (one["mean"], one["n"]) for name, one in found.items()}
    assert means == {
        "assigned-nuggets": (pytest.approx((1.5 / 2.5 + 0.25 / 0.5) / 2), 2),
        "assigned-nuggets(of=all)": (pytest.approx((1.5 / 3 + 0.5) / 2), 2),
        "assigned-nuggets(of=vital)": (pytest.approx(1.5 / 2), 1),
        "assigned-nuggets(of=strict-weighted)": (pytest.approx((1 / 2.5 + 0) / 2), 2),
        "assigned-nuggets(of=strict)": (pytest.approx((1 / 3 + 0) / 2), 2),
        "assigned-nuggets(of=strict-vital)": (pytest.approx(1 / 2), 1),
    }


@pytest.mark.parametrize(
    ("nugget", "problem"),
    [
        (
            ("vital", "yes"),
            "'assignment' must be support, partial_support, not_support, found 'yes",
        ),
        (("high", "support"), "'importance' must be vital or okay, found 'high'"),
    ],
)
def test_a_malformed_nugget_is_named(tmp_path: Path, nugget: tuple[str, str], problem: str) -> None:
    """With file, line and place."""
    with pytest.raises(DatasetError, match=rf"rows.jsonl, line 3: nugget 1: {problem}"):
        score(tmp_path / "rows.jsonl", [*ROWS, row("q3", nugget)])


def test_an_answer_without_assignments_has_no_value() -> None:
    """Neither has one of a query without vital nuggets, over these."""
    queries = [Query("a", "?"), Query("b", "?", labels={"okay_assignments": ("support",)})]
    answers = [Prediction("a", "Text."), Prediction("b", "Text.")]
    table = score_answers([AssignedNuggets("vital")], queries, answers)
    reasons = [one["reason"] for one in table_rows(table)]
    assert reasons == ["no nugget is assigned", "the query has no vital nugget"]
    assert (metrics_of(queries[:1]), len(metrics_of(queries))) == ((), 6)
