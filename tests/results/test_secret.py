"""Which queries are secret."""

from __future__ import annotations

import pytest

from ragstone.errors import ConfigError
from ragstone.results.secret import Secret

IDS = [f"q{number}" for number in range(1000)]


def test_a_share_is_about_that_share_of_the_queries() -> None:
    """Another seed chooses others; a larger share with one seed contains the smaller one."""
    fifth, half = Secret(0.2).chosen(IDS, {}), Secret(0.5).chosen(IDS, {})
    assert 150 < len(fifth) < 250
    assert fifth < half
    assert fifth != Secret(0.2, seed=1).chosen(IDS, {})
    assert Secret(0.2).is_within(Secret(0.5))
    assert not Secret(0.2, 1).is_within(Secret(0.5))
    assert not Secret(0.2, nuggets=0.3).is_within(Secret(0.5))
    assert Secret(0.2).to_dict() == {"queries": 0.2, "seed": 0}
    assert Secret.parse(Secret(nuggets=0.3).to_dict()) == Secret(nuggets=0.3)


def test_more_queries_move_none() -> None:
    """The choice depends on the query alone."""
    before, after = Secret(0.3).chosen(IDS[:100], {}), Secret(0.3).chosen(IDS, {})
    assert after & set(IDS[:100]) == before


def test_conversations_stay_together() -> None:
    """All turns are on one side."""
    clusters = {one: f"conversation {int(one[1:]) // 4}" for one in IDS}
    secret = Secret(0.3).chosen(IDS, clusters)
    sides = {clusters[one]: one in secret for one in IDS}
    assert secret == {one for one in IDS if sides[clusters[one]]}
    assert len(set(sides.values())) == 2


@pytest.mark.parametrize("written", ["20%", 0.2, {"queries": "20 %"}, {"queries": 0.2, "seed": 0}])
def test_forms_of_a_share(written: object) -> None:
    """Percent, a number, and a mapping."""
    assert Secret.parse(written) == Secret(0.2)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (20, "share between 0 and 1"),
        ("0%", "share between 0 and 1"),
        ("100%", "share between 0 and 1"),
        (True, "such as 20% or 0.2"),
        ("a few", "such as 20% or 0.2"),
        ({"seed": 3}, "share between 0 and 1"),
        ({"queries": 0.2, "sede": 3}, "did you mean 'seed'"),
        ({"queries": 0.2, "seed": "x"}, "the seed must be a whole number"),
        ({"nuggets": "130%"}, "share between 0 and 1"),
        ({"nugget": "30%"}, "did you mean 'nuggets'"),
    ],
)
def test_wrong_shares_are_refused(written: object, message: str) -> None:
    """The message has the value and what is allowed."""
    with pytest.raises(ConfigError, match=message):
        Secret.parse(written)
