"""Fusion: formulas worked by hand, parts that find nothing, ties, nesting, and bad input."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pytest
from tests.support import rankings

from ragstone.components.retrievers.bm25 import BM25
from ragstone.components.retrievers.fusion import Fusion
from ragstone.components.retrievers.oracle import Oracle
from ragstone.core.component import Outcome, run_component
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.core.step_notes import collect_notes
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError, RagstoneError
from ragstone.protocols import Services
from ragstone.statistics.score_scaling import Normalisation, on_scale
from ragstone.statistics.weight_scan import mixed
from ragstone.types import Passage, Ranking, Search

NAMES = "abcdefgh"
CORPUS = Corpus.from_passages([Passage(name, name) for name in NAMES])
SEARCHES = [Search("q", "a")]
WORDS = Ranking(["a", "b", "c"], [9.0, 5.0, 1.0])
VECTORS = Ranking(["c", "d", "a"], [0.9, 0.5, 0.1])


@dataclass(frozen=True)
class Fixed:
    """A retriever that gives every search the same ranking."""

    ids: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    top_k: int = 5

    def retrieve(self, searches: Sequence[Search]) -> list[Ranking]:
        """Return the ranking once per search."""
        return [Ranking(self.ids, self.scores) for _ in searches]


@dataclass(frozen=True)
class Calling:
    """A retriever that calls a model."""

    top_k: int = 5

    def retrieve(self, searches: Sequence[Search], calls: Any) -> list[Ranking]:
        """Return what the model answers."""
        return [Ranking((str(calls),), (1.0,)) for _ in searches]


def fixed(ranking: Ranking) -> Fixed:
    """Return a retriever that finds this ranking."""
    return Fixed(tuple(ranking.passage_ids), tuple(ranking.scores))


def fused(*parts: Ranking, **parameters: Any) -> Ranking:
    """Return the fusion of one query's rankings."""
    parameters.setdefault("top_k", 5)
    (found,) = rankings(Fusion(tuple(map(fixed, parts)), **parameters), SEARCHES, CORPUS)
    return found


def scores(ranking: Ranking) -> dict[str, float]:
    """Return passage id -> score."""
    return dict(zip(ranking.passage_ids, map(float, ranking.scores), strict=True))


def drawn(generator: np.random.Generator) -> Ranking:
    """Return a ranking of some passages with scores drawn at random."""
    ids = generator.choice(list(NAMES), size=int(generator.integers(2, 8)), replace=False)
    return Ranking(ids.tolist(), sorted(generator.normal(size=len(ids)).tolist(), reverse=True))


def test_reciprocal_rank_fusion_is_that_of_the_paper() -> None:
    """A score is the sum of 1 / (60 + rank) over the rankings with the passage."""
    found = fused(WORDS, VECTORS)

    expected = {"a": 1 / 61 + 1 / 63, "c": 1 / 63 + 1 / 61, "b": 1 / 62, "d": 1 / 62}
    assert scores(found) == pytest.approx(expected)
    # a and c are equal, b and d too: the first retriever decides.
    assert list(found.passage_ids) == ["a", "c", "b", "d"]
    steep = fused(WORDS, VECTORS, rrf_k=1)
    assert scores(steep)["b"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("normalisation", "expected"),
    [
        # words 1, .5, 0 at 9, 5, 1; vectors the same at .9, .5, .1.
        ("min-max", {"a": 0.75, "b": 0.375, "c": 0.25, "d": 0.125}),
        # Mean 5 and deviation sqrt(32 / 3), so +-1.2247 and 0; the lacking one has -1.2247.
        (
            "z-score",
            {"a": 0.5 * 1.22474487, "b": -0.25 * 1.22474487, "c": -0.5 * 1.22474487}
            | {"d": -0.75 * 1.22474487},
        ),
        ("none", {"a": 6.775, "b": 3.775, "c": 0.975, "d": 0.875}),
    ],
)
def test_weighted_sums_worked_by_hand(
    normalisation: Normalisation, expected: Mapping[str, float]
) -> None:
    """A score sums weight times scaled score; an absent passage has the lowest score."""
    found = fused(WORDS, VECTORS, weights=(0.75, 0.25), normalisation=normalisation)

    assert scores(found) == pytest.approx(dict(expected))
    assert list(found.passage_ids) == list(expected)
    short = fused(WORDS, VECTORS, text_weight=0.75, normalisation=normalisation)
    assert scores(short) == pytest.approx(scores(found))


@pytest.mark.parametrize("normalisation", ["min-max", "z-score", "none"])
def test_a_weight_of_0_or_1_is_one_part_alone(normalisation: Normalisation) -> None:
    """The order and the passages are exactly the part's, ties included."""
    generator = np.random.default_rng(5)
    first = sorted(generator.integers(0, 6, 8).tolist(), reverse=True)
    second = sorted(generator.normal(size=5).astype(np.float32).tolist(), reverse=True)
    words = Ranking(list("hgfedcba"), [float(score) for score in first])
    vectors = Ranking(list("abcde"), second)

    for weight, part in ((1, words), (0, vectors)):
        parts = replace(fixed(words), top_k=8), replace(fixed(vectors), top_k=8)
        fusion = Fusion(parts, text_weight=weight, normalisation=normalisation, top_k=8)
        (found,) = rankings(fusion, SEARCHES, CORPUS)
        assert list(found.passage_ids) == list(part.passage_ids)


@pytest.mark.parametrize("normalisation", ["min-max", "z-score", "none"])
@pytest.mark.parametrize("weight", [0.05, 0.2, 0.5])
def test_the_weight_scan_mixes_alike(normalisation: Normalisation, weight: float) -> None:
    """`ragstone.statistics.weight_scan`, written apart, orders random rankings in the same way."""
    generator = np.random.default_rng(11)
    for _ in range(20):
        words, vectors = (drawn(generator) for _ in range(2))
        found = fused(words, vectors, text_weight=weight, normalisation=normalisation, top_k=8)
        same = fused(
            words, vectors, weights=(weight, 1 - weight), normalisation=normalisation, top_k=8
        )
        assert scores(found) == pytest.approx(scores(same))
        # Passages of equal score may stand otherwise there: the lowest of both, say.
        if len(set(map(float, found.scores))) == len(found):
            assert list(found.passage_ids) == mixed(words, vectors, weight, normalisation)


def test_a_part_that_finds_nothing_leaves_the_others_ranking() -> None:
    """The other's ranking is unchanged, with a note; two empty rankings make an empty one."""
    for parameters in ({}, {"text_weight": 0.5}, {"weights": (1, 3), "normalisation": "z-score"}):
        with collect_notes() as notes:
            found = fused(Ranking(), VECTORS, **cast("dict[str, Any]", parameters))
        assert list(found.passage_ids) == ["c", "d", "a"]
        assert notes == {"queries without a hit of retriever 1": 1}
        assert len(fused(Ranking(), Ranking(), **cast("dict[str, Any]", parameters))) == 0


def test_equal_scores_are_put_on_a_scale() -> None:
    """min-max scales equal scores to the best, z-score to the mean."""
    same = np.array([2.0, 2.0])

    assert on_scale(same, "min-max")[0].tolist() == [1.0, 1.0]
    assert on_scale(same, "min-max")[1] == 0.0
    assert on_scale(same, "z-score")[0].tolist() == [0.0, 0.0]
    found = fused(Ranking(["b"], [3.0]), VECTORS, text_weight=0.6)
    assert scores(found) == pytest.approx({"b": 0.6, "c": 0.4, "d": 0.2, "a": 0.0})


def test_fusions_may_contain_fusions_and_top_k_cuts() -> None:
    """A fusion is a retriever like any other."""
    inner = Fusion((fixed(WORDS), fixed(VECTORS)), top_k=5)
    outer = Fusion((inner, fixed(Ranking(["h"], [1.0]))), top_k=2)

    (found,) = rankings(outer, SEARCHES, CORPUS)

    assert list(found.passage_ids) == ["a", "h"]
    assert outer.parts == outer.retrievers


def test_parts_are_given_judgements_and_calls() -> None:
    """They reach nested parts too."""
    inner = Fusion((Oracle(top_k=3), Calling(top_k=3)), top_k=3)
    fusion = Fusion((inner, fixed(VECTORS)), top_k=5)
    qrels = {"q": {"g": 2}}

    (found,) = rankings(fusion, SEARCHES, CORPUS, qrels=qrels, calls=cast("Any", "h"))

    assert set(found.passage_ids) == {"g", "h", "c", "d", "a"}
    with pytest.raises(ConfigError, match="judgements"):
        rankings(fusion, SEARCHES, CORPUS)


@dataclass(frozen=True)
class Failing:
    """A retriever that fails for one search."""

    top_k: int = 5

    def retrieve(self, search: Search) -> Outcome[Ranking]:
        """Return a ranking, or none for the search `bad`."""
        bad = search.query_id == "bad"
        return Outcome(Ranking() if bad else WORDS, "no vector" if bad else "", retry=bad)


def test_a_part_that_fails_for_a_search_is_a_reason() -> None:
    """The other parts are fused, and the next run repeats the search."""
    searches = [Search("bad", "a"), Search("good", "a")]
    fusion = Fusion((Failing(), fixed(VECTORS)), top_k=5)

    bad, good = run_component(fusion, Services(corpus=CORPUS), searches)

    assert (list(bad.value.passage_ids), bad.reason) == (["c", "d", "a"], "no vector")
    assert bad.retry
    assert (len(good.value), good.reason, good.retry) == (4, "", False)


def test_written_as_in_an_experiment_file() -> None:
    """Parts are names or mappings; defaults are filled in and are part of the key."""
    written = {"name": "fusion", "retrievers": ["bm25", {"name": "bm25", "k1": 0.4}]}
    plain = create("retrievers", written, where="retriever")
    weighted = create("retrievers", {**written, "text_weight": 0.2}, where="retriever")

    assert plain.retrievers == (BM25(), BM25(k1=0.4))
    assert (plain.method, plain.normalisation) == ("rrf", None)
    assert (weighted.method, weighted.normalisation) == ("weighted", "min-max")
    assert cache_key_parts(plain)["parameters"]["retrievers"][1]["parameters"]["k1"] == 0.4
    searched = rankings(plain, [Search("q", "a"), Search("nothing", "zzz")], CORPUS)
    assert [list(ranking.passage_ids) for ranking in searched] == [["a"], []]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"retrievers": ["bm25"]}, "two or more retrievers, found 1"),
        ({"retrievers": []}, "two or more retrievers, found 0"),
        ({"retrievers": "bm25"}, "key 'retrievers'"),
        ({"retrievers": ["bm25", "bm52"]}, "did you mean 'bm25'"),
        ({"retrievers": ["bm25", 3]}, "a retriever of fusion: expected .* found 3"),
        ({"method": "borda"}, "key 'method'.*'borda'"),
        ({"normalisation": "softmax", "text_weight": 0.5}, "key 'normalisation'.*'softmax'"),
        ({"weights": [1.0]}, "2 retrievers and 1 weights"),
        ({"method": "weighted"}, "2 retrievers and 0 weights"),
        ({"weights": [1.0, -0.5]}, "0 or more, found -0.5"),
        ({"weights": [1.0, math.nan]}, "0 or more, found nan"),
        ({"weights": [1.0, math.inf]}, "0 or more, found inf"),
        ({"weights": [0, 0]}, "all weights are 0"),
        ({"text_weight": 1.5}, "between 0 and 1, found 1.5"),
        ({"text_weight": math.nan}, "between 0 and 1, found nan"),
        ({"text_weight": 0.5, "weights": [1, 1]}, "not both"),
        ({"text_weight": 0.5, "retrievers": ["bm25"] * 3}, "for two retrievers, found 3"),
        ({"text_weight": 0.5, "retrievers": ["oracle", "bm25"]}, "put bm25 first"),
        ({"method": "rrf", "weights": [1, 1]}, "weights belongs to the method 'weighted'"),
        ({"normalisation": "none"}, "normalisation belongs to the method 'weighted'"),
        ({"rrf_k": 0}, "rrf_k must be 1 or more"),
        ({"top_k": 0}, "top_k must be 1 or more"),
        ({"top_k": 201}, "return 200 passages at most"),
    ],
)
def test_wrong_parameters_are_explained(parameters: dict[str, Any], said: str) -> None:
    """Each wrong combination is refused with a message that names a solution."""
    with pytest.raises(ConfigError, match=said):
        create(
            "retrievers",
            {"name": "fusion", "retrievers": ["bm25", "bm25"], **parameters},
            where="retriever",
        )


def test_scores_that_are_no_numbers_are_refused() -> None:
    """A weighted sum refuses NaN; reciprocal rank fusion ignores scores."""
    strange = Ranking(["a", "b"], [1.0, math.nan])

    with pytest.raises(RagstoneError, match="not finite"):
        fused(strange, VECTORS, text_weight=0.5)
    assert len(fused(strange, VECTORS)) == 4


def test_rankings_must_be_one_per_retriever_and_search() -> None:
    """A part with a missing ranking is an error."""
    fusion = Fusion((fixed(WORDS), fixed(VECTORS)), top_k=3)

    with pytest.raises(RagstoneError, match=r"\[2, 1\] rankings"):
        fusion.fuse([[WORDS, WORDS], [VECTORS]])
