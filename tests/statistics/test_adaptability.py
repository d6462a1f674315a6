"""Adaptability: four classes that sum to one, split by whether gold was in the context."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import DatasetError
from ragstone.statistics.adaptability import OUTCOMES, adaptability, classify

LABELS = st.dictionaries(
    st.text("abcdefghij", min_size=1, max_size=2), st.sampled_from([0, 1, None])
)


def test_every_triple_of_labels_has_its_class() -> None:
    """The eight triples, in the order base, oracle, mixed, as MIRAGE classes them."""
    found = [
        classify(base=bool(b), oracle=bool(o), mixed=bool(m))
        for b, o, m in itertools.product((0, 1), repeat=3)
    ]

    nv, ca, ci, cm = OUTCOMES
    assert found == [ci, ci, nv, ca, cm, cm, nv, ca]


@settings(deadline=None)
@given(LABELS, LABELS, LABELS)
def test_the_four_shares_sum_to_exactly_one(
    base: dict[str, int | None], oracle: dict[str, int | None], mixed: dict[str, int | None]
) -> None:
    """To the last bit, whatever the counts; and every query is an item or left out."""
    found = adaptability(base, oracle, mixed)

    assert sum(share.count for share in found.shares.values()) == found.n == len(found.items)
    assert found.n + len(found.left_out) == len({*base, *oracle, *mixed})
    if found.n:
        shares = [share.share for share in found.shares.values() if share.share is not None]
        assert math.fsum(shares) == 1.0
        assert found.overall == pytest.approx(2 * found.context_acceptability.count / found.n - 1)


@pytest.mark.parametrize(
    "counts", [(1, 6, 15, 0), (3, 6, 12, 1), (1, 1, 1, 0), (1_000, 5_000, 1_500, 60)]
)
def test_the_largest_share_absorbs_rounding(counts: tuple[int, ...]) -> None:
    """The shares sum to 1 even if counts / n does not; each share is correct within rounding."""
    triples = [
        t
        for t, c in zip([(0, 1, 0), (0, 1, 1), (0, 0, 0), (1, 0, 0)], counts, strict=True)
        for _ in range(c)
    ]
    labels = [{str(i): triple[place] for i, triple in enumerate(triples)} for place in range(3)]

    found = adaptability(*labels)

    assert math.fsum(share.share or 0 for share in found.shares.values()) == 1.0
    assert tuple(share.count for share in found.shares.values()) == counts
    assert all(
        s.share == pytest.approx(s.count / len(triples), abs=1e-15) for s in found.shares.values()
    )


def test_labels_are_joined_by_id_and_not_by_place() -> None:
    """The order of the keys in the mappings does not matter."""
    found = adaptability({"a": 0, "b": 1}, {"b": 0, "a": 1}, {"b": 0, "a": 0})

    assert {item.query_id: item.outcome for item in found.items} == {
        "a": "noise_vulnerability",
        "b": "context_misinterpretation",
    }


def test_a_query_without_all_labels_is_left_out_with_its_reason() -> None:
    """Absent and None both count as no label; the reason names the contexts without one."""
    found = adaptability({"a": 1, "b": None}, {"a": 1, "b": 1}, {"b": None, "c": 1})

    assert found.n == 0
    assert found.context_acceptability.share is None
    assert found.overall is None
    assert found.reasons == {
        "no label in mixed": 1,
        "no label in base and mixed": 1,
        "no label in base and oracle": 1,
    }


def test_a_query_that_takes_no_part_is_left_out_with_its_reason() -> None:
    """Whatever its labels; the other reasons stay."""
    labels = {"a": 1, "b": 1, "c": None}

    found = adaptability(labels, labels, labels, left_out={"a": "no gold", "z": "unknown query"})

    assert [item.query_id for item in found.items] == ["b"]
    assert found.reasons == {"no gold": 1, "no label in base and oracle and mixed": 1}


def test_vulnerability_and_acceptability_are_split_by_gold() -> None:
    """Wrong without gold is a miss, wrong with gold is noise; unknown cases are counted apart."""
    ids = "abcde"
    mixed = {"a": 0, "b": 0, "c": 1, "d": 1, "e": 0}
    gold = {"a": True, "b": False, "c": True, "d": False}

    found = adaptability(dict.fromkeys(ids, 0), dict.fromkeys(ids, 1), mixed, gold_in_context=gold)

    assert found.vulnerability_noise.share == found.vulnerability_miss.share == 0.2
    assert found.acceptability_grounded.count == found.acceptability_without_gold.count == 1
    assert found.noise_vulnerability.count == 3
    assert found.gold_unknown == 1


def test_clusters_reach_the_intervals() -> None:
    """Equal labels within a conversation widen the interval."""
    ids = [f"{c}.{i}" for c in range(20) for i in range(10)]
    oracle = {q: int(int(q.split(".")[0]) % 2) for q in ids}
    same = dict.fromkeys(ids, 1)

    alone = adaptability(same, oracle, same).context_acceptability.interval
    grouped = adaptability(
        same, oracle, same, clusters={q: q.split(".")[0] for q in ids}
    ).context_acceptability.interval

    assert alone is not None
    assert grouped is not None
    assert grouped[1] - grouped[0] > 2 * (alone[1] - alone[0])


def test_a_graded_label_is_refused() -> None:
    """A score of 0.5 is an error, because it is neither right nor wrong."""
    with pytest.raises(DatasetError, match=r"oracle label of query 'a' is 0\.5"):
        adaptability({"a": 1}, {"a": 0.5}, {"a": 1})
