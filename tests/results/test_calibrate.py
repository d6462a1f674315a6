"""People's labels of some answers correct a judge's mean over all of them."""

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


def test_the_raw_mean_stands_beside_the_corrected_one(tmp_path: Path) -> None:
    """Where people call everything wrong, the calibrated mean falls below the judge's."""
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


def test_a_trial_without_labels_says_why_it_has_no_mean(tmp_path: Path) -> None:
    """Nothing is guessed for a system that nobody labelled."""
    found = calibrate(made_results(tmp_path, queries=12), "Match", {})

    assert all(trial.calibrated is None for trial in found)
    assert "at least 5" in found[0].reason


def test_an_unknown_metric_is_named(tmp_path: Path) -> None:
    """With the nearest that there is."""
    with pytest.raises(UnknownMetric, match="did you mean 'Match'"):
        calibrate(made_results(tmp_path, queries=12), "Math", {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (line("q1", 1) + "\n" + line("q1", 0), "labelled twice"),
        (line("q1", 2), "from 0 to 1, found 2"),
        (line("q1", None), "from 0 to 1, found None"),
        ('{"query_id": "q1", "value": 1}', "line 1: expected query_id, system and setting"),
    ],
)
def test_malformed_labels_are_refused(tmp_path: Path, text: str, said: str) -> None:
    """File and line are named."""
    path = tmp_path / "labels.jsonl"
    path.write_text(text)

    with pytest.raises(DatasetError, match=said):
        read_labels(path)
