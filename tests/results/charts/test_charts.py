"""The report's charts."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.results.charts.charts import adaptability_chart, answers_chart, retrieval_charts
from ragstone.results.charts.parts import MOST_SERIES
from ragstone.results.leaderboards import leaderboard, retrieval_board
from ragstone.results.reader import StoredResults


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StoredResults:
    """Return made-up results of two systems under four settings."""
    return made_results(tmp_path_factory.mktemp("store"), queries=20)


def test_the_answers_chart_has_the_tables_numbers(results: StoredResults) -> None:
    """Every mean and interval of the chart is equal to the one of the leaderboard."""
    spec = answers_chart(results)
    assert spec is not None
    drawn = {
        (v["row"], v["name"]): (v["mean"], v["low"], v["high"]) for v in spec["data"]["values"]
    }

    for board in leaderboard(results):
        for row in board.rows:
            summary = row.cells["Match"]
            assert summary.interval is not None
            assert drawn.pop((row.system, board.setting)) == (summary.mean, *summary.interval)
    assert not drawn


def test_a_bar_is_from_0_to_1(results: StoredResults) -> None:
    """Segments follow each other without a gap, and the last one ends at 1 exactly."""
    spec = adaptability_chart(results)
    assert spec is not None
    bars: dict[str, list[dict[str, float]]] = {}
    for value in spec["data"]["values"]:
        bars.setdefault(value["row"], []).append(value)

    assert len(bars) == 4
    for segments in bars.values():
        assert segments[0]["start"] == 0
        assert segments[-1]["end"] == 1
        assert all(a["end"] == b["start"] for a, b in itertools.pairwise(segments))
        assert math.fsum(segment["share"] for segment in segments) == pytest.approx(1)


def test_cutoffs_make_lines_and_the_rest_rows(results: StoredResults) -> None:
    """nDCG@1, @3, @10 and R@1, @3, @10 are two charts of lines; MRR is in a chart of rows."""
    charts = dict(retrieval_charts(results))
    board = retrieval_board(results)
    assert board is not None

    assert list(charts) == ["nDCG@k", "R@k", "MRR"]
    drawn = {(v["name"], v["metric"]): v["mean"] for v in charts["R@k"]["data"]["values"]}
    assert drawn == {
        (row.system, metric): row.cells[metric].mean
        for row in board.rows
        for metric in ("R@1", "R@3", "R@10")
    }


def test_the_best_of_many_systems_are_drawn(tmp_path: Path) -> None:
    """If there are more systems than colours, the best by the largest cutoff are drawn."""
    results = made_results(tmp_path, systems=[f"s{n}" for n in range(12)], settings=())
    spec = dict(retrieval_charts(results))["nDCG@k"]

    assert len({value["name"] for value in spec["data"]["values"]}) == MOST_SERIES


def test_names_stay_out_of_expressions(tmp_path: Path) -> None:
    """Names of systems are data: no domain, filter or expression contains one."""
    results = made_results(tmp_path, systems=HOSTILE, texts=HOSTILE)
    specs = [answers_chart(results), adaptability_chart(results)]
    specs += [spec for _, spec in retrieval_charts(results)]

    for spec in specs:
        assert spec is not None
        rules = json.dumps(
            {k: v for k, v in spec.items() if k not in {"data", "params", "description"}}
        )
        assert not any(json.dumps(name)[1:-1] in rules for name in HOSTILE)


def test_every_chart_describes_itself(results: StoredResults) -> None:
    """The description of a chart contains its numbers."""
    spec = answers_chart(results)
    assert spec is not None

    assert f"{spec['data']['values'][0]['mean']:.3f}" in spec["description"]


def test_nothing_measured_draws_nothing(tmp_path: Path) -> None:
    """Without answers there is no chart of answers, nor of adaptability."""
    results = made_results(tmp_path, settings=())

    assert answers_chart(results) is None
    assert adaptability_chart(results) is None
