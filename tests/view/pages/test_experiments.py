"""The page of experiments: live progress of runs, by what they write."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.listed_pages import html_of, page_of
from tests.fakes.made_results import made_results

from ragstone.core.store import Store
from ragstone.results.record import Attempt


def test_a_first_run_shows_its_complete_trials(tmp_path: Path) -> None:
    """The page looks again by itself while the run gives signs."""
    made_results(tmp_path / "s", finished=False)
    found = page_of(tmp_path / "s", "/experiments")
    (row,) = found["experiments"]
    assert row["state"] == "running"
    assert (row["progress"]["trials"], row["progress"]["rankings"]) == (8, 2)
    assert row["progress"]["planned"] is None
    assert found["live"]
    assert "data-live" in html_of(tmp_path / "s", "/experiments")


def test_a_newer_run_shows_how_far_it_is(tmp_path: Path) -> None:
    """It is beside the finished results; a run that was overtaken is not shown."""
    results = made_results(tmp_path / "s")
    attempt = {
        "started": "2026-03-03T10:00:00+00:00",
        "command": "ragstone run <b>made.yaml",
        "rankings": 2,
        "rankings_complete": 2,
        "trials": 8,
        "trials_complete": 3,
    }
    finished = results.record.finished or ""
    Attempt(after=finished, **attempt).save(Store(tmp_path / "s"), "made")  # type: ignore[arg-type]
    (row,) = page_of(tmp_path / "s", "/experiments")["experiments"]
    assert row["state"] == "finished"
    assert (row["progress"]["trials"], row["progress"]["planned"]) == (3, 8)
    html = html_of(tmp_path / "s", "/experiments")
    assert "3 of 8 trials complete" in html
    assert "ragstone run &lt;b&gt;made.yaml" in html
    Attempt(after="earlier", **attempt).save(Store(tmp_path / "s"), "made")  # type: ignore[arg-type]
    (row,) = page_of(tmp_path / "s", "/experiments")["experiments"]
    assert row["progress"] is None


def test_a_finished_store_is_not_live(faulty: Path) -> None:
    """Nothing is asked for again."""
    assert page_of(faulty, "/experiments")["live"] == ""
    assert "data-live" not in html_of(faulty, "/experiments")
