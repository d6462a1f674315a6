"""The page of history: the points of `ragstone history`, and the list of experiments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.listed_pages import html_of, page_of, rows_of
from tests.fakes.made_results import made_results

from ragstone.core.store import Store
from ragstone.errors import ConfigError
from ragstone.results.earlier import finished_records, keep_earlier
from ragstone.results.history import make_history
from ragstone.results.results import Results
from ragstone.web.errors import PageError


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with two runs of an experiment and one of another."""
    made_results(tmp_path / "s", name="once")
    results = made_results(tmp_path / "s")
    keep_earlier(results.store, replace(results.record, finished="2026-02-01T10:00:00+00:00"))
    return tmp_path / "s"


def test_the_points_are_those_of_history(store: Path) -> None:
    """The last run is first; a run has what changed since the one before it."""
    results = Results.load(Store(store), "made")
    runs = finished_records(results.store, "made")
    known = make_history([Results(results.store, run).passport() for run in runs])
    found = page_of(store, "/history", experiment="made")
    rows = rows_of(found, "runs")
    assert [(row["system"], row["mean"]["mean"]) for row in rows] == [
        (line.system, point.mean) for line in known.lines for point in reversed(line.points)
    ]
    assert len(found["more"]["history"]["lines"]) == len(known.lines)
    only = page_of(
        store, "/history", experiment="made", system="dense + small", setting="gold", metric="F1"
    )
    assert {(row["system"], row["setting"]) for row in rows_of(only, "runs")} == {
        ("dense + small", "gold")
    }
    assert "No test compares the runs" in only["basis"]
    assert "the first run" in html_of(store, "/history", experiment="made")


def test_experiments_are_listed_by_their_runs(store: Path) -> None:
    """The one with several runs is first; an unknown name gets the nearest."""
    found = page_of(store, "/history")
    assert [(row["name"], row["runs"]) for row in rows_of(found, "experiments")] == [
        ("made", 2), ("once", 1),
    ]  # fmt: skip
    assert found["verdict"] == "1 experiment has several runs"
    with pytest.raises(ConfigError, match="did you mean 'made'"):
        page_of(store, "/history", experiment="mad")
    with pytest.raises(PageError, match="did you mean 'Match'"):
        page_of(store, "/history", experiment="made", metric="Mach")
    made_results(store, name="begun", finished=False)
    assert "No run of begun has finished" in html_of(store, "/history", experiment="begun")
