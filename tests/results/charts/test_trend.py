"""The chart of a history: gaps at marks, text from outside, and few points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_history import made_passports
from tests.fakes.made_results import HOSTILE

from ragstone.results.charts.render import write_chart
from ragstone.results.charts.trend import trend_chart
from ragstone.results.history import make_history


def new_corpus(passport: dict[str, Any]) -> None:
    """Change the passages."""
    passport["data"]["corpus_digest"] = "1" * 64


def test_a_mark_is_a_gap_with_its_reason(tmp_path: Path) -> None:
    """A line connects the points of one segment; the mark is between two runs."""
    spec = trend_chart(make_history(made_passports(tmp_path, 4, {2: new_corpus}), metric="F1"))

    points = [value for value in spec["data"]["values"] if "mean" in value]
    ruled = [value for value in spec["data"]["values"] if "mark" in value]
    lines = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    assert ruled == [{"place": 1.5, "mark": "data"}]
    assert {(p["place"], p["segment"]) for p in points} == {(0, 0), (1, 0), (2, 1), (3, 1)}
    assert lines[0]["encoding"]["detail"]["field"] == "segment"
    assert "Not comparable: data before 2026-03-03 10:04." in spec["description"]
    assert spec["params"][1]["value"][2] == ["2026-03-03", "v1.1"]


@pytest.mark.parametrize("runs", [1, 30])
def test_the_picture_is_drawn_with_any_text(tmp_path: Path, runs: int) -> None:
    """Names and releases from outside end no expression and no element."""
    passports = made_passports(tmp_path, runs, {0: new_corpus}, HOSTILE)
    for passport in passports:
        for entry in passport["experiment"]["systems"]:
            entry["release"] = HOSTILE[0]

    write_chart(trend_chart(make_history(passports)), tmp_path / "trend.svg")

    drawn = (tmp_path / "trend.svg").read_text()
    assert drawn.startswith("<svg")
    assert "<script" not in drawn
