"""Stated confidence in results: calibration, its reliability diagram, and the page of a query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.results.test_hops import run

from ragstone.errors import DatasetError
from ragstone.results.charts.charts import confidence_chart, confidence_risk_chart
from ragstone.results.confidence import confidence_rows
from ragstone.results.html import render_report
from ragstone.results.leaderboards import results_document
from ragstone.results.query_page import query_document
from ragstone.results.refusals import refusal_rows
from ragstone.results.kept_board import leaderboard_parts

ANSWERS: list[dict[str, Any]] = [
    {"query_id": "q1", "answer": "1802", "confidence": 0.9},
    {"query_id": "q2", "answer": "1900", "confidence": 0.5},
    {"query_id": "q3", "answer": "I don't know.", "confidence": 0.1},
    {"query_id": "q4", "answer": None, "reason": "timed out"},
    {"query_id": "q5", "answer": "1802"},
]


def test_every_view_contains_the_same_numbers(tmp_path: Path) -> None:
    """JSON, the terminal, the report, its chart and the page of a query."""
    results = run(tmp_path, ANSWERS)
    (row,) = confidence_rows(results)
    (document,) = json.loads(json.dumps(results_document(results)))["confidence"]

    assert row.found.error == document["error"] == pytest.approx((1.5 - 1) / 3)
    assert document["brier"]["mean"] == pytest.approx((0.01 + 0.25 + 0.01) / 3)
    assert (document["n"], document["binning"], len(document["bins"])) == (3, "equal mass", 1)
    assert document["left_out"] == {"no answer": 1, "no confidence": 1}
    assert document["area"] == pytest.approx((0 + 1 / 2 + 2 / 3) / 3)
    text = "\n".join(map(str, leaderboard_parts(results)))
    assert "calibration error: ECE over bins of equal mass" in text
    assert "mine, system; left out: 1 (no answer), 1 (no confidence)" in text
    page = render_report(results)
    assert 'id="confidence"' in page
    assert "n 3, 1 bin<" in page
    chart = confidence_chart(results)
    assert chart is not None
    assert "mine · system: 0.333 right at confidence 0.500" in chart["description"]
    risk = confidence_risk_chart(results)
    assert risk is not None
    assert "mine · system: 0.667 at 1.000" in risk["description"]
    assert query_document(results, "q1")["trials"][0]["confidence"] == 0.9


def test_the_stated_confidence_orders_the_risk_of_refusals(tmp_path: Path) -> None:
    """Without a metric of the name `confidence`, the system's own numbers order the answers."""
    results = run(tmp_path, ANSWERS, metrics=["Match", "refusal"])
    (row,) = refusal_rows(results)

    assert row.ordered
    assert row.found.risks[0] == 0


def test_without_a_confidence_or_a_rule_nothing_is_shown(tmp_path: Path) -> None:
    """No section and an empty list."""
    for name, answers, more in (("a", ANSWERS[3:], {}), ("b", ANSWERS, {"correct": None})):
        results = run(tmp_path / name, answers, **more)
        assert results_document(results)["confidence"] == []
        assert confidence_chart(results) is None
        assert 'id="confidence"' not in render_report(results)


def test_a_confidence_outside_of_0_to_1_is_an_error_of_form(tmp_path: Path) -> None:
    """The line and the value are named."""
    with pytest.raises(DatasetError, match="line 1: 'confidence' must be a number from 0 to 1"):
        run(tmp_path, [{**ANSWERS[0], "confidence": 90}])
