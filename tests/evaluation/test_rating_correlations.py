"""Correlations of stored metrics with people's ratings, plain and weighted."""

from __future__ import annotations

import pytest

from ragstone.data.readers.rated_set import RatedSet, RatedText
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.errors import ConfigError
from ragstone.evaluation.rating_correlations import rating_correlations
from ragstone.types import Query

ITEMS = [RatedItem(f"q{n}", "s") for n in range(8)]
VALUES = (4, 4, 4, 4, 4, 3, 2, 1)


def rated(metric: tuple[float, ...]) -> RatedSet:
    """Return one rating and one value of a metric per answer, and words of another property."""
    ratings = [
        HumanRating(item, "p", "ann", value) for item, value in zip(ITEMS, VALUES, strict=True)
    ]
    words = [HumanRating(item, "cause", "ann", "ranking") for item in ITEMS]
    texts = {item: RatedText(Query(item.query_id, "Who?")) for item in ITEMS}
    metrics = {"F1": dict(zip(ITEMS, metric, strict=True))}
    return RatedSet("r", (*ratings, *words), texts, metrics=metrics)


def test_rare_ratings_weigh_more() -> None:
    """A metric that finds the few bad answers correlates more if each rating counts the same."""
    (one,) = rating_correlations(rated((0.1, 0.9, 0.2, 0.8, 0.5, 0.4, 0.3, 0.0)))

    assert (one.metric, one.property, one.plain.n) == ("F1", "p", 8)
    assert one.plain.value is not None
    assert one.weighted.value is not None
    assert one.weighted.value > one.plain.value


def test_the_balanced_metric_must_be_stored() -> None:
    """Without metrics, there are no correlations."""
    held = rated((0.0,) * 8)

    with pytest.raises(ConfigError, match="--balance: no metric 'EM'"):
        rating_correlations(held, balance="EM")
    assert rating_correlations(RatedSet("r", held.ratings)) == []
