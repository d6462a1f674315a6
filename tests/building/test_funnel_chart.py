"""The picture of a benchmark's making."""

from __future__ import annotations

from pathlib import Path

from ragstone.building.funnel_chart import build_chart
from ragstone.results.charts.render import write_chart

DOCUMENT = {
    "stages": [
        {"stage": "mapping", "in": 500_000, "out": 61_165, "rejected": {}},
        {"stage": "known", "in": 61_165, "out": 7_560, "rejected": {}},
    ],
    "composition": {"naturalqa": 3578, "popqa": 3075, "triviaqa": 584, "ifqa": 248, "drop": 75},
    "positives": {"1": 4800, "2": 2760},
}


def test_the_picture_is_drawn_with_one_bar_per_step(tmp_path: Path) -> None:
    """MIRAGE's published counts are drawn: 500,000, then 61,165, then 7,560."""
    write_chart(build_chart(DOCUMENT), tmp_path / "funnel.svg")
    drawn = (tmp_path / "funnel.svg").read_text(encoding="utf-8")
    assert all(text in drawn for text in ("500,000", "61,165", "7,560", "naturalqa"))


def test_parts_without_data_are_left_out() -> None:
    """A benchmark with no query has only its steps."""
    chart = build_chart({"stages": DOCUMENT["stages"], "composition": {}})
    assert "naturalqa" not in str(chart)
