"""Context settings show exactly the passages of their rule."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.components.context_settings.documents import WholeDocuments
from ragstone.components.context_settings.gold import Gold
from ragstone.components.context_settings.gold_injected import GoldInjected
from ragstone.components.context_settings.gold_noise import GoldNoise
from ragstone.components.context_settings.gold_retrieved import GoldRetrieved
from ragstone.components.context_settings.neighbours import Neighbours
from ragstone.components.context_settings.none import NoContext
from ragstone.components.context_settings.retrieved import Retrieved
from ragstone.core.component import run_component
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.protocols import ContextSetting, Services
from ragstone.types import (
    Candidates,
    Context,
    GoldPassages,
    NoisePassages,
    Passage,
    Query,
    RetrievedPassages,
)

QUERY = Query("q", "where?")
GOLD = GoldPassages((Passage("g1", "one"), Passage("g2", "two", title="Two")))
NOISE = NoisePassages(tuple(Passage(f"n{i}", f"noise {i}") for i in range(5)))
FOUND = RetrievedPassages((Passage("n1", "noise 1"), Passage("g1", "one"), Passage("x", "x")))


def built(
    setting: ContextSetting,
    query: Query,
    gold: GoldPassages,
    noise: NoisePassages,
    retrieved: RetrievedPassages,
) -> Context:
    """Return the context that a setting builds for one query."""
    candidates = [Candidates(query, gold, noise, retrieved)]
    (outcome,) = run_component(setting, Services(), candidates)
    context: Context = outcome.value
    return context


@pytest.mark.parametrize(
    ("builder", "ids"),
    [
        (NoContext(), ()),
        (Gold(), ("g1", "g2")),
        (Gold(1), ("g1",)),
        (GoldNoise(2, position="first"), ("g1", "g2", "n0", "n1")),
        (GoldNoise(2, position="last"), ("n0", "n1", "g1", "g2")),
        (GoldNoise(2, position="middle"), ("n0", "g1", "g2", "n1")),
        (GoldNoise(5, position="middle"), ("n0", "n1", "g1", "g2", "n2", "n3", "n4")),
        (Retrieved(2), ("n1", "g1")),
        (GoldRetrieved(3), ("g1", "g2", "n1")),
        (GoldRetrieved(9), ("g1", "g2", "n1", "x")),
    ],
    ids=lambda value: getattr(value, "setting", None),
)
def test_each_rule_shows_its_passages(builder: ContextSetting, ids: tuple[str, ...]) -> None:
    """The passages and their order are those of the rule."""
    assert built(builder, QUERY, GOLD, NOISE, FOUND).passage_ids == ids


def test_a_passage_is_shown_with_its_title_and_its_origin() -> None:
    """The title is above the text; the origin is gold, noise or retrieved."""
    context = built(GoldNoise(1, position="last"), QUERY, GOLD, NOISE, FOUND)

    assert context.passages[2].text == "Two\ntwo"
    assert [p.origin for p in context.passages] == ["noise", "gold", "gold"]


@pytest.mark.parametrize(
    ("builder", "name", "defined"),
    [
        (GoldRetrieved(5), "gold+retrieved(5)", [0, 1, 2]),
        (GoldRetrieved(5, max_gold=1), "gold+retrieved(5, max_gold=1)", [0, 1]),
        (GoldRetrieved(5, max_gold=None), "gold+retrieved(5, max_gold=null)", [0, 1, 2, 3, 4]),
    ],
)
def test_gold_retrieved_applies_to_queries_with_few_gold_passages(
    builder: GoldRetrieved, name: str, defined: list[int]
) -> None:
    """At most two gold passages by default; the name contains another bound and round-trips."""
    assert builder.setting == name
    assert create("context_settings", name, where="setting") == builder
    assert [gold for gold in range(5) if not builder.not_applicable(gold)] == defined


def test_a_max_gold_of_0_is_refused() -> None:
    """It would leave out every query that the setting is for."""
    with pytest.raises(ConfigError, match="no maximum, found 0"):
        GoldRetrieved(5, max_gold=0)


def test_a_random_position_depends_only_on_query_and_seed() -> None:
    """A context built twice is the same; over many queries, gold is at every position."""
    builder = GoldNoise(2)
    one = GoldPassages(GOLD.passages[:1])
    places = Counter(
        built(builder, Query(f"q{i}", "?"), one, NOISE, FOUND).passage_ids.index("g1")
        for i in range(300)
    )

    assert built(builder, QUERY, GOLD, NOISE, FOUND) == built(builder, QUERY, GOLD, NOISE, FOUND)
    assert set(places) == {0, 1, 2}
    assert min(places.values()) > 60


@given(
    st.sampled_from([NoContext(), Gold(), Gold(2), Retrieved(3), GoldRetrieved(4)])
    | st.builds(
        GoldNoise,
        noise=st.integers(2, 9),
        position=st.sampled_from(["first", "middle", "last", "random"]),
        seed=st.integers(0, 5),
    )
    | st.builds(
        GoldInjected,
        injected=st.integers(1, 9),
        kind=st.sampled_from(["", "override", "false-fact"]),
        position=st.sampled_from(["first", "middle", "last", "random"]),
        seed=st.integers(0, 5),
    )
    | st.builds(
        Neighbours,
        top_k=st.integers(1, 9),
        each_side=st.integers(1, 3),
        of=st.sampled_from(["retrieved", "gold"]),
    )
    | st.builds(WholeDocuments, top_k=st.integers(1, 9), of=st.sampled_from(["retrieved", "gold"]))
)
def test_the_name_of_a_setting_round_trips(builder: ContextSetting) -> None:
    """The canonical name creates the same setting."""
    assert create("context_settings", builder.setting, where="test") == builder


def test_one_noise_passage_has_no_middle() -> None:
    """The error says what to do."""
    with pytest.raises(ConfigError, match="there is no middle; raise noise to 2 or more"):
        GoldNoise(1, position="middle")


def test_a_query_without_gold_gets_an_empty_gold_context() -> None:
    """An unanswerable query has no gold passages to show."""
    assert built(Gold(), QUERY, GoldPassages(()), NOISE, FOUND).passages == ()
