"""Comparisons of systems: common queries, counts, corrected p values, verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ragstone
from ragstone.core.schemas import scores_to_table
from ragstone.errors import ConfigError, DatasetError, UnknownMetric
from ragstone.evaluation.compare import compare
from ragstone.evaluation.comparison import Comparison
from ragstone.evaluation.scored_systems import Scores
from ragstone.statistics.paired import paired_difference
from ragstone.types import Score


def scores(values: list[float | None], metric: str = "EM", start: int = 0) -> list[Score]:
    """Return one score per value, of the queries q0, q1, ...; None failed."""
    return [
        Score(f"q{i}", metric, value, "failed" if value is None else "scored")
        for i, value in enumerate(values, start=start)
    ]


def labels(share: float, n: int, seed: int) -> list[float | None]:
    """Return n seeded labels."""
    return [float(x) for x in np.random.default_rng(seed).random(n) < share]


def test_it_is_the_public_function() -> None:
    """Importing the module does not hide the function behind it."""
    assert ragstone.compare is compare
    assert ragstone.compare is compare


def test_only_queries_that_all_systems_have_are_compared() -> None:
    """Absent and extra queries are left out, counted and named; a failed query counts as wrong."""
    a = scores([1.0, 0.0, None, 1.0])
    b = [*scores([1.0, 1.0, 1.0]), *scores([0.0], start=9)]

    found = compare(a, b, names=["a", "b"])["EM"]

    assert (found.n, found.left_out) == (3, 2)
    assert found.absent == {"a": ("q9",), "b": ("q3",)}
    assert found.summaries["a"].mean == pytest.approx(1 / 3)
    assert found.summaries["a"].failed == 1
    assert found.pairs[0].difference.difference == pytest.approx(2 / 3)
    assert "b has no score of 1 queries: q3" in str(found.table())


def test_a_large_difference_is_significant() -> None:
    """The verdict names the better system, the lead, its interval and p."""
    found = compare(scores(labels(0.3, 300, 1)), scores(labels(0.6, 300, 2)))

    pair = found["EM"].pairs[0]
    assert pair.significant
    assert pair.verdict.startswith("B is better than A by 0.")
    assert "p<0.0001" in pair.verdict
    assert found.tests == 1


def test_a_lead_of_the_first_system_is_positive() -> None:
    """The lead and its interval are positive whoever leads."""
    found = compare(scores(labels(0.6, 300, 2)), scores(labels(0.3, 300, 1)))

    verdict = found["EM"].pairs[0].verdict
    assert verdict.startswith("A is better than B by 0.")
    assert "-" not in verdict


def test_a_near_tie_reports_how_many_more_queries_are_needed() -> None:
    """A near tie is not significant; the verdict has the number of queries of a planned test."""
    found = compare(scores(labels(0.50, 100, 1)), scores(labels(0.56, 100, 2)))

    pair = found["EM"].pairs[0]
    assert not pair.significant
    assert pair.more_queries is not None
    assert "no difference shown between A and B" in pair.verdict
    assert "more queries would settle a difference of this size" in pair.verdict
    assert pair.minimum_detectable is not None
    assert pair.minimum_detectable > abs(pair.difference.difference)


def test_equal_scores_need_no_more_queries() -> None:
    """Equal values have equal means and no sample size."""
    pair = compare(scores([1.0, 0.0]), scores([1.0, 0.0]))["EM"].pairs[0]

    assert pair.verdict == "A and B have the same value on all 2 queries"
    assert pair.more_queries is None


def test_p_is_corrected_over_all_pairs_and_metrics() -> None:
    """Three systems and two metrics are six tests; Holm multiplies the least p by six."""
    given = [
        [*scores(labels(share, 60, seed)), *scores(labels(share, 60, seed + 9), "F1")]
        for seed, share in enumerate((0.4, 0.5, 0.7))
    ]

    found = compare(*given)

    pairs = [pair for one in found.metrics for pair in one.pairs]
    least = min(pairs, key=lambda pair: pair.difference.p)
    assert found.tests == len(pairs) == 6
    assert least.adjusted_p == pytest.approx(min(1.0, 6 * least.difference.p))
    assert any("after Holm" in pair.verdict for pair in pairs)


def test_a_baseline_is_compared_with_each_other_system() -> None:
    """Two pairs instead of three, the baseline first."""
    given = [scores(labels(0.5, 40, seed)) for seed in range(3)]

    found = compare(*given, names=["old", "x", "y"], baseline="old")

    assert [(pair.a, pair.b) for pair in found["EM"].pairs] == [("old", "x"), ("old", "y")]


def test_three_systems_have_ranks_with_their_stability() -> None:
    """Ranks are best first; two systems have no ranks."""
    given = [scores(labels(share, 200, seed)) for seed, share in enumerate((0.2, 0.5, 0.9))]

    assert [place.system for place in compare(*given)["EM"].ranks] == ["C", "B", "A"]
    assert compare(*given[:2])["EM"].ranks == ()


def test_lower_can_be_better() -> None:
    """The verdict prefers the lower value."""
    slow, fast = scores([3.0 + i % 3 for i in range(50)], "s"), scores([1.0] * 50, "s")

    verdict = compare(slow, fast, lower_is_better=["s"])["s"].pairs[0].verdict

    assert verdict.startswith("B is better than A by 2.9800 [2.7")


def test_clusters_are_kept_whole() -> None:
    """The difference equals `paired_difference` over the same clusters; others are single."""
    a, b = labels(0.5, 60, 1), labels(0.7, 60, 2)
    clusters = {f"q{i}": f"c{i // 6}" for i in range(54)}

    found = compare(scores(a), scores(b), clusters=clusters)

    names = [clusters.get(f"q{i}", f"q{i}") for i in range(60)]
    expected = paired_difference([x or 0.0 for x in a], [x or 0.0 for x in b], clusters=names)
    assert found["EM"].pairs[0].difference == expected
    assert expected.clusters == 15
    assert found.clusters == "clusters"


def test_turns_of_a_conversation_are_clusters_by_default() -> None:
    """Ids of the form conversation::turn define the clusters."""
    a, b = (
        [Score(f"c{i // 5}::{i % 5}", "EM", float(i % k == 0)) for i in range(50)] for k in (2, 3)
    )

    assert compare(a, b)["EM"].pairs[0].difference.clusters == 10
    assert compare(a, b, clusters={})["EM"].pairs[0].difference.clusters == 50


def test_clusters_that_name_no_query_are_refused() -> None:
    """Clusters of another data set are an error."""
    with pytest.raises(DatasetError, match="contain none of the queries of EM"):
        compare(scores([1.0]), scores([0.0]), clusters={"other": "c"})


def test_systems_with_nothing_in_common_are_not_compared() -> None:
    """Without a common query, or without a common metric, the error has both sides."""
    with pytest.raises(DatasetError, match="the scores of A have 'q0', and the scores of B have"):
        compare(scores([1.0]), scores([0.0], start=5))
    with pytest.raises(DatasetError, match="A has EM; B has F1"):
        compare(scores([1.0]), scores([1.0], "F1"))


def test_metrics_missing_in_a_system_are_listed() -> None:
    """They are not compared, and the comparison lists the systems without them."""
    found = compare([*scores([1.0, 0.0]), *scores([1.0], "F1")], scores([1.0, 1.0]))

    assert [one.metric for one in found.metrics] == ["EM"]
    assert found.not_shared == {"F1": ("B",)}


def test_tables_and_files_are_read_as_scores_are(tmp_path: Path) -> None:
    """A SCORES table, a file and a list of the same scores compare alike; files give the names."""
    held = scores([1.0, 0.0, None])
    lines = '{"query_id": "q0", "metric": "EM", "value": 1}\n{"query_id": "q1", "metric": "EM", '
    path = tmp_path / "old.scores.jsonl"
    path.write_text(lines + '"value": false}\n{"query_id": "q2", "metric": "EM", "value": null}\n')

    found: Comparison = compare(path, scores_to_table(held), names=None)

    assert found.systems == ("old", "B")
    assert found["EM"].summaries["old"] == found["EM"].summaries["B"]


def test_wrong_use_is_named() -> None:
    """Too few systems, equal names, unknown names and second values are errors."""
    one = scores([1.0])
    with pytest.raises(ConfigError, match="at least two systems, found 1"):
        compare(one)
    with pytest.raises(ConfigError, match="different names, found a, a"):
        compare(one, one, names=["a", "a"])
    with pytest.raises(ConfigError, match="unknown baseline 'C'"):
        compare(one, one, baseline="C")
    with pytest.raises(UnknownMetric, match="did you mean 'EM'"):
        compare(one, one, metrics=["EMM"])
    with pytest.raises(DatasetError, match="query 'q0' has a second value for EM"):
        compare([*one, *scores([0.0])], one)
    with pytest.raises(UnknownMetric, match="no comparison for 'F1'"):
        compare(one, one)["F1"]


def test_a_mapping_names_the_systems(tmp_path: Path) -> None:
    """Evaluations, records, tables and files are compared under the mapping's names."""
    gold = {f"q{i}": ["yes"] for i in range(4)}
    evaluation = ragstone.evaluate_answers(dict.fromkeys(gold, "yes"), gold, ["EM"])
    file = tmp_path / "scores.jsonl"
    lines = [f'{{"query_id": "q{i}", "metric": "EM", "value": 1}}' for i in range(4)]
    file.write_text("\n".join(lines))
    records = scores([1.0, 1.0, 0.0, 0.0])

    sides: dict[str, Scores] = {"a": evaluation, "b": records, "c": scores_to_table(records)}
    found = compare({**sides, "d": file})

    assert found.systems == ("a", "b", "c", "d")
    assert [s.mean for s in found["EM"].summaries.values()] == [1.0, 0.5, 0.5, 1.0]


def test_one_mapping_or_one_argument_per_system() -> None:
    """A mapping next to other arguments or names is an error."""
    one = scores([1.0, 0.0])
    for arguments in ([{"a": one}, one], [{"a": one}, {"b": one}]):
        with pytest.raises(ConfigError, match="give one mapping from name to scores, or one arg"):
            compare(*arguments)
    with pytest.raises(ConfigError, match="give one mapping"):
        compare({"a": one, "b": one}, names=["a", "b"])


def test_the_clusters_of_evaluations_are_kept() -> None:
    """Queries of one conversation change sign together, as in the intervals of the evaluations."""
    turns = [
        ragstone.Query(f"q{i}", "?", ("yes",), labels={"conversation": f"c{i // 3}", "turn": i % 3})
        for i in range(12)
    ]
    old = ragstone.evaluate_answers({q.query_id: "no" for q in turns}, turns, ["EM"])
    new = ragstone.evaluate_answers({q.query_id: "yes" for q in turns}, turns, ["EM"])

    found = compare({"old": old, "new": new})

    assert found["EM"].pairs[0].difference.clusters == 4
    assert "Intervals: 95%, over clusters." in str(found)
    assert compare({"old": old, "new": new}, clusters={})["EM"].pairs[0].difference.clusters == 12


def test_a_comparison_is_printed_and_exported() -> None:
    """`print` has the verdicts, the table one row per metric and pair, `to_dict` every number."""
    names = ["one", "two", "three"]
    found = compare(*(scores(labels(0.5, 30, seed)) for seed in range(3)), names=names)

    frame, means = found.to_pandas(), found.to_pandas(summary=True)

    assert list(frame.verdict) == [pair.verdict for pair in found["EM"].pairs]
    assert all(pair.verdict in str(found) for pair in found["EM"].pairs)
    plain = found.to_dict()["metrics"]["EM"]["pairs"]
    assert list(frame.adjusted_p) == [pair["adjusted_p"] for pair in plain]
    assert [*frame.a, *frame.b] == ["one", "one", "two", "two", "three", "three"]
    assert list(means.system) == names
    assert repr(found) == "Comparison(one / two / three: EM)"
