"""The text-weight scan: mixed scores, curves per label, and the cost of one weight for all."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.weight_scan import WEIGHTS, mixed, scan_values, weight_scan
from ragstone.types import Ranking


def runs(n: int = 60) -> tuple[dict[str, Ranking], dict[str, Ranking], dict[str, dict[str, int]]]:
    """Return a lexical run with the gold of even queries, a dense one with that of odd queries."""
    lexical, dense, qrels = {}, {}, {}
    for i in range(n):
        gold, other = ["g", "x1", "x2", "x3", "x4", "x5"], ["y1", "y2", "y3", "y4", "y5", "y6"]
        scores = [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
        lexical[f"q{i}"] = Ranking(gold if i % 2 == 0 else other, scores)
        dense[f"q{i}"] = Ranking(other if i % 2 == 0 else gold, scores)
        qrels[f"q{i}"] = {"g": 1, "x9": 0}
    return lexical, dense, qrels


def test_pure_weights_are_the_pure_runs() -> None:
    """Weight 0 gives the dense run's recall, weight 1 the lexical run's, in any normalisation."""
    lexical, dense, qrels = runs()
    labels = {f"q{i}": "even" if i % 2 == 0 else "odd" for i in range(60)}

    for normalisation in ("min-max", "z-score", "none"):
        scan = weight_scan(lexical, dense, qrels, labels, normalisation=normalisation)
        curves = {row.label: [point.mean for point in row.curve] for row in scan.labels}
        assert (curves["even"][0], curves["even"][-1]) == (0.0, 1.0)
        assert (curves["odd"][0], curves["odd"][-1]) == (1.0, 0.0)
        assert (curves["all"][0], curves["all"][-1]) == (0.5, 0.5)


def test_a_pure_run_has_no_passages_of_the_other_run() -> None:
    """A short dense ranking is not filled up with lexical hits at weight 0."""
    scan = weight_scan(
        {"q": Ranking(["g", "a"], [2.0, 1.0])}, {"q": Ranking(["b"], [1.0])}, {"q": {"g": 1}}
    )

    assert scan.labels[0].curve[0].mean == 0.0
    assert scan.labels[0].curve[1].mean == 1.0


def test_the_regret_is_that_of_one_weight_for_all() -> None:
    """Even queries need words, odd ones vectors; the best weight of all is that of the majority."""
    lexical, dense, qrels = runs(90)
    labels = {f"q{i}": "even" if i % 2 == 0 else "odd" for i in range(90)}
    for i in range(0, 30, 2):
        del qrels[f"q{i}"]

    scan = weight_scan(lexical, dense, qrels, labels, weights=(0.0, 1.0), resamples=500)
    rows = {row.label: row for row in scan.labels}

    assert scan.best == rows["odd"].best == 0.0
    assert rows["even"].best == 1.0
    assert (rows["even"].regret, rows["odd"].regret) == (1.0, 0.0)
    assert rows["even"].held_out == pytest.approx(1.0)
    assert rows["even"].p_value < 0.001
    low, high = rows["even"].regret_interval or (0.0, 0.0)
    assert 0 <= low <= high <= 1


def test_labels_without_a_difference_have_no_held_out_lead() -> None:
    """Random labels have a regret on the same queries, but no lead on other queries."""
    generator = np.random.default_rng(3)
    lexical, dense, qrels = runs(400)
    labels = {f"q{i}": str(generator.integers(2)) for i in range(400)}

    scan = weight_scan(lexical, dense, qrels, labels, resamples=200)

    assert all(abs(row.held_out) < 0.12 for row in scan.labels)
    assert all(row.p_value > 0.05 for row in scan.labels)


def test_a_query_with_several_labels_counts_for_each() -> None:
    """A label of all queries is scanned over all of them; repeated labels count once."""
    lexical, dense, qrels = runs()
    labels = {f"q{i}": ["any", "even" if i % 2 == 0 else "odd", "any"] for i in range(60)}

    scan = weight_scan(lexical, dense, qrels, labels, resamples=200)
    rows = {row.label: row for row in scan.labels}

    assert {name: row.curve[0].n for name, row in rows.items()} == {
        "all": 60,
        "any": 60,
        "even": 30,
        "odd": 30,
    }
    assert rows["any"].curve == rows["all"].curve
    assert rows["any"].regret == 0.0


def test_clusters_are_drawn_and_flipped_whole() -> None:
    """Clusters of equal queries remove the significance of a lead."""
    lexical, dense, qrels = runs()
    labels = {f"q{i}": "even" if i % 2 == 0 else "odd" for i in range(60)}
    apart = {f"q{i}": i for i in range(60)}
    talks = {f"q{i}": i % 4 for i in range(60)}

    plain = weight_scan(lexical, dense, qrels, labels, weights=(0.0, 1.0), resamples=300)
    same = weight_scan(
        lexical, dense, qrels, labels, weights=(0.0, 1.0), resamples=300, clusters=apart
    )
    whole = weight_scan(
        lexical, dense, qrels, labels, weights=(0.0, 1.0), resamples=300, clusters=talks
    )

    assert plain == same
    assert plain.labels[1].p_value < 0.001
    assert whole.labels[1].p_value == 1.0
    assert whole.labels[0].curve[0].interval != plain.labels[0].curve[0].interval


def test_normalisation_decides_the_mix() -> None:
    """Raw BM25 scores dominate cosines; normalised, both count."""
    lexical = Ranking(["a", "b", "c"], [30.0, 29.0, 0.0])
    dense = Ranking(["c", "b", "a"], [0.9, 0.89, 0.1])

    assert mixed(lexical, dense, 0.5, "none")[0] == "a"
    assert mixed(lexical, dense, 0.5, "min-max")[0] == "b"


def test_a_query_missing_in_a_run_has_no_passage_from_it() -> None:
    """A query without a ranking in one run is scored by the other run."""
    scan = weight_scan({}, {"q": Ranking(["g"], [1.0])}, {"q": {"g": 1}, "r": {"g": 1}})

    assert [point.mean for point in scan.labels[0].curve] == [0.5, 0.5, 0.5, 0.5, 0.5, 0.0]
    assert scan.weights == WEIGHTS


def test_wrong_arguments_are_refused() -> None:
    """Unknown normalisation, a weight above 1, no judged query."""
    lexical, dense, qrels = runs(2)

    with pytest.raises(ConfigError, match="min-max, z-score, none"):
        weight_scan(lexical, dense, qrels, normalisation="max")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"found 1\.5"):
        weight_scan(lexical, dense, qrels, weights=[1.5])
    with pytest.raises(DatasetError, match="needs qrels"):
        weight_scan(lexical, dense, {"q": {"g": 0}})


def test_the_best_weight_has_an_interval() -> None:
    """Labels with a clear best weight have a narrow interval; over all queries it is wide."""
    lexical, dense, qrels = runs(80)
    labels = {f"q{i}": "even" if i % 2 == 0 else "odd" for i in range(80)}

    scan = weight_scan(lexical, dense, qrels, labels, weights=(0.0, 1.0))
    rows = {row.label: row for row in scan.labels}

    assert (rows["even"].best, rows["even"].best_interval) == (1.0, (1.0, 1.0))
    assert (rows["odd"].best, rows["odd"].best_interval) == (0.0, (0.0, 0.0))
    assert rows["all"].best_interval == (0.0, 1.0)


def test_measured_values_are_scanned() -> None:
    """A scan needs only a score per query and weight, of any metric."""
    generator = np.random.default_rng(4)
    values = generator.random((50, 3))
    values[:, 2] += 0.3
    ids = [f"q{i}" for i in range(50)]

    every, label = scan_values(values, ids, (0.0, 0.5, 1.0), dict.fromkeys(ids[:20], "x"))

    assert (every.label, every.curve[0].n, every.best) == ("all", 50, 1.0)
    assert (label.label, label.curve[0].n) == ("x", 20)
    assert [point.mean for point in every.curve] == pytest.approx(values.mean(axis=0).tolist())


def test_the_seed_is_zero_unless_it_is_given() -> None:
    """Equal runs have equal scans; another seed has other folds and resamples."""
    generator = np.random.default_rng(5)
    labels = {f"q{place}": "odd" if place % 2 else "even" for place in range(40)}
    qrels = {query: {"a": 1, "b": 1} for query in labels}
    lexical, dense = (
        {query: Ranking("abcdefghij", generator.random(10).tolist()) for query in labels}
        for _ in range(2)
    )

    plain = weight_scan(lexical, dense, qrels, labels, resamples=20)
    zero, one = (
        weight_scan(lexical, dense, qrels, labels, resamples=20, seed=seed) for seed in (0, 1)
    )

    assert plain == zero != one


def test_two_clusters_have_intervals_and_one_has_none() -> None:
    """One cluster shows no spread."""
    values, ids = np.array([[0.0, 1.0], [1.0, 0.5]]), ["q", "r"]
    (two,) = scan_values(values, ids, (0.0, 1.0))
    (one,) = scan_values(values, ids, (0.0, 1.0), clusters={"q": "c", "r": "c"})
    assert two.best_interval is not None
    assert two.regret_interval is not None
    assert (one.best_interval, one.regret_interval) == (None, None)
