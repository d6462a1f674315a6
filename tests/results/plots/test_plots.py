"""Plots of made-up results: their numbers are those of the tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.causes.order import CAUSES
from ragstone.errors import ConfigError
from ragstone.results.causes.found import causes_of
from ragstone.results.causes.gains import gains_of
from ragstone.results.charts.causes import LOOKS
from ragstone.results.charts.parts import MOST_SERIES
from ragstone.results.joined import JoinedResults
from ragstone.results.plots.output import draw, rows_of
from ragstone.results.plots.request import PlotRequest
from ragstone.results.plots.sizes import read_sizes


def test_causes_have_the_shares_of_the_table(tmp_path: Path) -> None:
    """Each share of a mixed setting is drawn once, with its count and the wrong answers."""
    results = made_results(tmp_path, queries=60)
    plot = draw(PlotRequest("causes", JoinedResults.of([results])))

    bars, shares = plot.charts.values()
    mixed = [
        one
        for one in causes_of(results).shares
        if one.setting.startswith(("gold+noise", "retrieved"))
    ]
    drawn = {(row["name"], row["row"]): (row["mean"], row["count"]) for row in rows_of(shares)}
    assert drawn == {(f"{m.system} · {m.setting}", m.cause): (m.share, m.n) for m in mixed}
    assert drawn
    segments = {(row["row"], row["name"]): row["count"] for row in rows_of(bars)}
    assert segments == {(f"{m.system} · {m.setting}", m.cause): m.n for m in mixed}


def test_segments_differ_without_colour(tmp_path: Path) -> None:
    """Each cause has its own pair of colour and pattern, and neighbours have other patterns."""
    assert set(LOOKS) == {cause.name for cause in CAUSES if not cause.refines}
    assert len({(look.fill, look.pattern) for look in LOOKS.values()}) == len(LOOKS)
    bars, _ = draw(
        PlotRequest("causes", JoinedResults.of([made_results(tmp_path, queries=60)]))
    ).charts.values()
    drawn = bars["data"]["values"]
    assert {row["name"]: row["pattern"] for row in drawn} == {
        name: LOOKS[name].pattern for name in ("ranking", "distraction", "reading", "failure")
    }


def test_gains_are_those_of_the_table(tmp_path: Path) -> None:
    """A row per step, and bounds are called so; the axis has 0 and fits the gains."""
    results = made_results(tmp_path, queries=60)
    plot = draw(PlotRequest("gains", JoinedResults.of([results])))

    (spec,) = plot.charts.values()
    drawn = {(row["name"], row["row"]): (row["mean"], row["bound"]) for row in rows_of(spec)}
    assert drawn == {
        (f"{one.system} · {one.setting}", one.step + " (at most)" * one.bound): (
            one.gain,
            one.bound,
        )
        for one in gains_of(results)
        if one.gain or one.missing_trial
    }
    low, high = spec["layer"][-1]["encoding"]["x"]["scale"]["domain"]
    assert low < 0 < high < 1


def test_gains_need_a_mixed_setting(tmp_path: Path) -> None:
    """The error says what to add."""
    alone = JoinedResults.of([made_results(tmp_path, settings=("none", "gold"))])
    with pytest.raises(ConfigError, match=r"plot gains: .*add one to `settings:`, such as ret"):
        draw(PlotRequest("gains", alone))


def test_the_first_series_are_drawn_with_a_note(tmp_path: Path) -> None:
    """A chart never has more series than colours."""
    results = made_results(tmp_path, systems=[f"s{n}" for n in range(5)])
    joined = JoinedResults.of([results])
    plot = draw(PlotRequest("gain-by-dataset", joined, metrics=("Match",)))

    (spec,) = plot.charts.values()
    assert len({row["name"] for row in rows_of(spec)}) == MOST_SERIES
    assert "8 of 10 series are drawn" in plot.notes[0]
    chosen = {"system": ["s1"]}
    only = draw(PlotRequest("gain-by-dataset", joined, metrics=("Match",), where=chosen))
    assert {row["name"][:2] for row in rows_of(next(iter(only.charts.values())))} == {"s1"}


def test_many_columns_become_rows(tmp_path: Path) -> None:
    """Correlations of more trials than a heat map has room for have a row per trial."""
    for systems, turned in ((2, False), (3, True)):
        names = [f"s{n}" for n in range(systems)]
        results = made_results(tmp_path / str(systems), queries=40, systems=names)
        request = PlotRequest("metric-vs-judge", JoinedResults.of([results]), metrics=("Match",))
        (spec,) = draw(request).charts.values()
        rows = rows_of(spec)
        assert len(rows) == systems * 4
        assert {row["column" if turned else "row"] for row in rows} == {"F1 with Match"}


def test_a_note_stands_once(tmp_path: Path) -> None:
    """Charts with the same number of series share a note."""
    results = made_results(tmp_path, systems=[f"s{n}" for n in range(5)])
    plot = draw(PlotRequest("causes", JoinedResults.of([results, results])))
    assert len(plot.charts) > 1
    assert plot.notes == ("8 of 10 series are drawn, the first ones; choose with --where",)


@pytest.mark.parametrize("written", ["7B", "x=", "x=many", "x=-1", "x=inf"])
def test_a_size_is_a_positive_number(written: str) -> None:
    """An error names the form."""
    with pytest.raises(ConfigError, match="expected GENERATOR=SIZE"):
        read_sizes((written,))
