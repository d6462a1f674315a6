"""Human labels of some answers correct a judge's mean over all answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.errors import DatasetError, UnknownMetric
from ragstone.results.calibrate import calibrate, read_labels


def line(query_id: str, value: object) -> str:
    """Return one label of the first system without context."""
    return json.dumps({"query_id": query_id, "system": "s", "setting": "none", "value": value})


def test_raw_and_calibrated_mean_are_both_returned(tmp_path: Path) -> None:
    """If people label every answer as wrong, the calibrated mean is below the judge's."""
    results = made_results(tmp_path, queries=60)
    trial = next(t for t in results.trials if any(s.value for s in t.scores["Match"].values()))
    scored = [q for q, s in trial.scores["Match"].items() if s.value is not None]
    labels = {(trial.system, trial.setting): dict.fromkeys(scored[:20], 0.0)}

    found = {(t.system, t.setting): t for t in calibrate(results, "Match", labels)}

    calibrated = found[trial.system, trial.setting].calibrated
    assert calibrated is not None
    assert calibrated.labelled == 20
    assert calibrated.mean < calibrated.judge_mean
    assert calibrated.interval[0] <= calibrated.mean <= calibrated.interval[1]


def test_a_trial_without_labels_has_a_reason(tmp_path: Path) -> None:
    """A system without labels has no calibrated mean."""
    found = calibrate(made_results(tmp_path, queries=12), "Match", {})

    assert all(trial.calibrated is None for trial in found)
    assert "at least 10" in found[0].reason


def test_an_unknown_metric_is_named(tmp_path: Path) -> None:
    """The error suggests the nearest metric."""
    with pytest.raises(UnknownMetric, match="did you mean 'Match'"):
        calibrate(made_results(tmp_path, queries=12), "Math", {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (line("q1", 1) + "\n" + line("q1", 0), "labelled twice"),
        (line("q1", 2), "from 0 to 1, found 2"),
        (line("q1", None), "from 0 to 1, found None"),
        ('{"query_id": "q1", "value": 1}', "line 1: .*'system'"),
    ],
)
def test_malformed_labels_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """The error contains the problem and its line."""
    path = tmp_path / "labels.jsonl"
    path.write_text(text)

    with pytest.raises(DatasetError, match=message):
        read_labels(path)
