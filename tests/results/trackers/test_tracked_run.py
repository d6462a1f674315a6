"""What a tracker is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.core import limits
from ragstone.results.passport import make_passport
from ragstone.results.trackers.tracked_run import plain_name, tracked_run


def test_numbers_are_those_of_the_results(tmp_path: Path) -> None:
    """Each mean with its interval and its counts, under names that trackers allow."""
    results = made_results(tmp_path)
    found = tracked_run(results, tmp_path)

    rows = make_passport(results)["numbers"]["leaderboard"]
    assert rows
    for row in rows:
        name = plain_name("/".join((row["system"], row["setting"], row["metric"])))
        assert found.numbers[name] == row["mean"]
        assert found.numbers[f"{name}/n"] == row["n"]
        assert found.numbers[f"{name}/failed"] == row["failed"]
    assert [path.name for path in found.files] == ["report.html", "passport.json"]
    assert all(path.stat().st_size for path in found.files)
    assert found.key == tracked_run(results, tmp_path).key


def test_long_parameters_end_with_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trackers refuse long values; the passport has them whole."""
    monkeypatch.setattr(limits, "TRACKED_CHARACTERS", 4)
    found = tracked_run(made_results(tmp_path), tmp_path)

    assert found.parameters["correct"] == "M..."
    assert max(map(len, found.parameters.values())) == 4
