"""Human labels of some answers correct a judge's mean over all answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.fakes.made_results import made_results

from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError, DatasetError, UnknownMetric
from ragstone.evaluation.human_grades import human_set
from ragstone.results.calibrate import calibrate, inclusions_of, labels_of
from ragstone.results.rated_trials import read_labels
from ragstone.results.reader import StoredResults


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


def test_labels_and_ratings_are_read_alike(tmp_path: Path) -> None:
    """Values of several raters become one; ratings of passages are refused."""
    results = made_results(tmp_path / "store", queries=12)
    answer = {"query_id": "q001", "system": "bm25 + small", "setting": "gold"}
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({**answer, "value": 0.5}))
    assert labels_of(human_set(read_labels(results, path))) == {
        ("bm25 + small", "gold"): {"q001": 0.5}
    }
    rated = [{**answer, "property": "p", "rater": r, "value": v} for r, v in (("a", 1), ("b", 5))]
    path.write_text("\n".join(map(json.dumps, rated)))
    assert labels_of(human_set(read_labels(results, path))) == {
        ("bm25 + small", "gold"): {"q001": 0.5}
    }
    path.write_text(json.dumps({**rated[0], "passage_id": "p1-gold"}))
    with pytest.raises(DatasetError, match="the ratings are of passages"):
        labels_of(human_set(read_labels(results, path)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (line("q1", 1) + "\n" + line("q1", 0), "line 2.*a second rating of 'label' by 'people'"),
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
        read_labels(made_results(tmp_path / "store"), path)


def drawn_labels(
    results: StoredResults, setting: str, count: int
) -> dict[tuple[str, str], dict[str, float]]:
    """Return labels of the systems' answers to the same queries: the values of the metric."""
    trials = [t for t in results.trials if t.setting == setting]
    shared = [
        q for q in trials[0].predictions if all(t.values("Match")[q] is not None for t in trials)
    ]
    chosen = np.random.default_rng(0).permutation(shared)[:count].tolist()
    return {
        (t.system, setting): {q: float(t.values("Match")[q] or 0.0) for q in chosen} for t in trials
    }


def test_differences_ranks_and_strata_are_corrected(tmp_path: Path) -> None:
    """The baseline has no difference; the others have one from it, and parts per label value."""
    results = made_results(tmp_path, queries=120)
    labels = drawn_labels(results, "gold", 40)
    second = results.systems[1]

    trials = calibrate(results, "Match", labels, baseline=second, by="domain")
    found = {t.system: t for t in trials if t.setting == "gold"}

    base, other = found.pop(second), *found.values()
    assert base.difference is None
    assert other.difference is not None
    assert (other.difference.baseline, other.difference.labelled) == (second, 40)
    assert other.difference.interval is not None
    assert other.place is not None
    assert [part.value for part in other.by] == [part.value for part in base.by]
    assert all(part.difference for part in other.by)
    assert len(other.by) > 1
    assert other.sample_differences == ()


def test_the_best_corrected_mean_is_the_baseline(tmp_path: Path) -> None:
    """Without a baseline the differences are from the best system."""
    results = made_results(tmp_path, queries=120)
    trials = calibrate(results, "Match", drawn_labels(results, "gold", 40))
    gold = [t for t in trials if t.setting == "gold" and t.calibrated]

    best = max(gold, key=lambda t: t.calibrated.mean if t.calibrated else 0.0)
    assert best.difference is None
    assert all(t.difference and t.difference.baseline == best.system for t in gold if t is not best)


def test_labels_of_other_queries_are_counted_and_refused_if_all_are(tmp_path: Path) -> None:
    """One label of another query is a count; if no label matches, the error names the first."""
    results = made_results(tmp_path, queries=40)
    key = (results.systems[0], "gold")
    labels = drawn_labels(results, "gold", 12)
    labels[key]["elsewhere"] = 1.0

    found = next(t for t in calibrate(results, "Match", labels) if (t.system, t.setting) == key)
    assert found.other_queries == 1
    with pytest.raises(DatasetError, match=r"none of the 1 labels .* query 'elsewhere'"):
        calibrate(results, "Match", {key: {"elsewhere": 1.0}})


def test_unknown_names_have_suggestions(tmp_path: Path) -> None:
    """A baseline and a label that do not exist are errors."""
    results = made_results(tmp_path, queries=12)
    with pytest.raises(ConfigError, match="no system 'bm25'"):
        calibrate(results, "Match", {}, baseline="bm25")
    with pytest.raises(ConfigError, match="no query has the label 'domian'; did you mean"):
        calibrate(results, "Match", {}, by="domian")


def test_probabilities_weight_the_labels(tmp_path: Path) -> None:
    """Labels with unequal probabilities have another mean than the same labels without."""
    results = made_results(tmp_path, queries=120)
    labels = drawn_labels(results, "gold", 40)
    inclusions = {
        key: {q: Inclusion(0.1 if value else 0.5) for q, value in of.items()}
        for key, of in labels.items()
    }

    plain = calibrate(results, "Match", labels)
    weighted = calibrate(results, "Match", labels, inclusions=inclusions)

    pairs = [(a.calibrated, b.calibrated) for a, b in zip(plain, weighted, strict=True)]
    assert all(b.human_mean > a.human_mean for a, b in pairs if a and b)
    assert any(a and b for a, b in pairs)


def test_how_answers_were_drawn_comes_with_their_labels(tmp_path: Path) -> None:
    """Answers without a probability are a random sample."""
    results = made_results(tmp_path / "store", queries=12)
    (tmp_path / "labels.jsonl").write_text(
        "\n".join(
            json.dumps({"query_id": query, "system": "bm25 + small", "setting": "gold", **more})
            for query, more in (
                ("q001", {"value": 1}),
                ("q002", {"value": 0, "inclusion_probability": 0.25, "round": 2}),
            )
        )
    )

    graded = human_set(read_labels(results, tmp_path / "labels.jsonl"))

    assert inclusions_of(graded) == {("bm25 + small", "gold"): {"q002": Inclusion(0.25, 2)}}
