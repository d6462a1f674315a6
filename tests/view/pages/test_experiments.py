"""The page of experiments: live progress of runs, by what they write."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import yaml
from tests.fakes.listed_pages import html_of, page_of
from tests.fakes.made_results import made_results

from ragstone.core.store import Store
from ragstone.experiment.load import load_experiment
from ragstone.results.record import Attempt
from ragstone.view.store_view import StoreView


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


READER = """
import time
from dataclasses import dataclass
from pathlib import Path
from ragstone.types import Prediction


@dataclass(frozen=True)
class Reader:
    go: str = ""

    def generate(self, task):
        while task.context.setting == "gold" and not Path(self.go).exists():
            time.sleep(0.01)
        return Prediction(task.query.query_id, "in winter")
"""


def test_a_run_under_way_is_seen_from_the_first_trial_on(tmp_path: Path) -> None:
    """A real run waits in its second trial; the page shows the first one, then the end."""
    (tmp_path / "parts.py").write_text(READER, encoding="utf-8")
    go, store = tmp_path / "go", tmp_path / "store"
    document = {
        "data": "sample",
        "store": str(store),
        "sample": {"limit": 4, "seed": 3, "where": {"turn": None}},
        "systems": {"slow": {"generator": {"name": "parts.py:Reader", "go": str(go)}}},
        "settings": ["none", "gold"],
        "metrics": ["Match"],
    }
    (tmp_path / "e.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    run = threading.Thread(target=load_experiment(tmp_path / "e.yaml").run)
    run.start()
    try:
        view: StoreView | None = None
        seen: list[Any] = []
        while run.is_alive() and not seen:
            time.sleep(0.02)
            if store.is_dir():
                view = view or StoreView(store)
                seen = page_of(view, "/experiments")["experiments"]
    finally:
        go.touch()
        run.join()
    assert (seen[0]["state"], seen[0]["progress"]["trials"]) == ("running", 1)
    assert view is not None
    (row,) = page_of(view, "/experiments")["experiments"]
    assert (row["state"], row["progress"]) == ("finished", None)


def test_a_finished_store_is_not_live(faulty: Path) -> None:
    """Nothing is asked for again."""
    assert page_of(faulty, "/experiments")["live"] == ""
    assert "data-live" not in html_of(faulty, "/experiments")
