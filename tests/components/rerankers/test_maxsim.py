"""Late interaction over token vectors that can be checked by eye, as reranker and first stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from tests.support import rankings, values

from ragstone.components.rerankers.maxsim import MaxSim
from ragstone.components.retrievers.late_interaction import LateInteraction
from ragstone.core import limits
from ragstone.core import resources as room
from ragstone.core.component import Outcome, run_component
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import SilentBar
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import ComponentError, ConfigError, RagstoneError, UnknownComponent
from ragstone.indexes.token_vectors import SHARD, TokenIndex, maxsim
from ragstone.protocols import Embedder, Role, Services
from ragstone.types import Passage, Ranking, Search

EMBEDDED: list[str] = []


@dataclass(frozen=True)
class Letters(Embedder):
    """One vector of three dimensions per word, derived from the word."""

    seed: int = 0
    output = "tokens"

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield the vectors of each text's words, and remember the passages."""
        EMBEDDED.extend(texts if role == "passage" else ())
        yield from (Outcome(self.rows(text)) for text in texts)

    def rows(self, text: str) -> Any:
        """Return unit vectors that depend on each word alone."""
        drawn = [
            np.random.default_rng([self.seed, *word.encode()]).normal(size=3)
            for word in text.split()
        ]
        held = np.array(drawn, dtype=np.float32).reshape(len(drawn), 3)
        return held / np.maximum(np.linalg.norm(held, axis=1, keepdims=True), 1e-9)


@dataclass(frozen=True)
class Refusing(Letters):
    """Cannot embed the query `?`."""

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield the vectors of each text, or why there are none."""
        for text, outcome in zip(texts, super().embed(texts, role, services), strict=True):
            yield Outcome(None, "busy", retry=True) if text == "?" else outcome


LETTERS = f"{__name__}:Letters"
EXACT: Final = "float32"
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def reranked(
    reranker: MaxSim, searches: Sequence[Search], given: Sequence[Ranking], corpus: Corpus
) -> list[Ranking]:
    """Return the ranking of each search."""
    return values(reranker, Services(corpus=corpus), searches, given)


def _corpus(*texts: str, store: Store | None = None) -> Corpus:
    made = Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])
    return replace(made, store=store)


def _random(count: int, store: Store | None = None) -> Corpus:
    draw = np.random.default_rng(5)
    texts = [" ".join(draw.choice(WORDS, size=draw.integers(0, 6))) for _ in range(count)]
    return _corpus(*texts, store=store)


def _reference(query: str, corpus: Corpus) -> list[str]:
    """Return the ids in the order of the definition."""
    letters = Letters()

    def score(text: str) -> float:
        total = 0.0
        for q in letters.rows(query).astype(np.float64):
            total += max((float(q @ p) for p in letters.rows(text).astype(np.float64)), default=0.0)
        return total

    scores = np.array([score(passage.text) for passage in corpus], dtype=np.float32)
    return [corpus.passage_ids[n] for n in np.argsort(-scores, kind="stable")]


def test_each_query_token_takes_its_best_match() -> None:
    """The definition, by hand: 1 + 0.8."""
    query = np.array([[1.0, 0.0], [0.0, 1.0]])
    passage = np.array([[0.6, 0.8], [1.0, 0.0]])

    assert maxsim(query, passage) == pytest.approx(1.8)
    assert maxsim(query, passage[:0]) == 0.0
    assert maxsim(query[:0], passage) == 0.0


def test_the_head_of_a_ranking_is_ordered_and_the_rest_falls_away() -> None:
    """`depth` passages are reranked and `top_k` returned."""
    corpus = _corpus("beta", "alpha beta", "gamma", "alpha")
    given = Ranking(["p0", "p2", "p1", "p3"], [4.0, 3.0, 2.0, 1.0])

    reranker = MaxSim(2, 3, LETTERS, EXACT)
    (ranking,) = reranked(reranker, [Search("q", "alpha")], [given], corpus)

    assert ranking.passage_ids[0] == "p1"
    assert len(ranking) == 2
    assert "p3" not in ranking.passage_ids
    assert ranking.scores[0] == pytest.approx(1.0)


def test_a_passage_is_embedded_once_for_all_queries_that_rank_it() -> None:
    """A passage that is in no ranking is not embedded."""
    corpus = _corpus("alpha", "beta", "gamma")
    EMBEDDED.clear()
    given = [Ranking(["p1", "p0"], [2.0, 1.0])] * 3
    searches = [Search(str(n), "beta") for n in range(3)]

    reranked(MaxSim(embedder=LETTERS, precision=EXACT), searches, given, corpus)

    assert EMBEDDED == ["alpha", "beta"]


def test_a_query_that_cannot_be_embedded_keeps_its_ranking() -> None:
    """Its outcome has no value and a reason; the passages that it alone ranks are not embedded."""
    reranker = MaxSim(embedder=f"{__name__}:Refusing", precision=EXACT)
    given = [Ranking(["p0"], [1.0]), Ranking(["p1"], [1.0])]
    EMBEDDED.clear()

    bad, good = run_component(
        reranker,
        Services(corpus=_corpus("alpha", "beta")),
        [Search("bad", "?"), Search("good", "beta")],
        given,
    )

    assert (bad.value, bad.reason, bad.retry) == (None, "busy", True)
    assert (list(good.value.passage_ids), good.reason, good.retry) == (["p1"], "", False)
    assert EMBEDDED == ["beta"]


def test_awkward_rankings_come_back_whole() -> None:
    """Empty rankings, single passages, empty texts and duplicates keep their passages."""
    corpus = _corpus("alpha", "alpha", "", "beta")
    given = [
        Ranking(),
        Ranking(["p3"], [1.0]),
        Ranking(["p2", "p1", "p0"], [3.0, 2.0, 1.0]),
        Ranking(["p2", "p3"], [2.0, 1.0]),
    ]
    searches = [Search(str(n), text) for n, text in enumerate(["alpha", "beta", "alpha", ""])]

    reranker = MaxSim(embedder=LETTERS, precision=EXACT)
    found = reranked(reranker, searches, given, corpus)

    assert [list(ranking.passage_ids) for ranking in found] == [
        [],
        ["p3"],
        ["p1", "p0", "p2"],
        ["p2", "p3"],
    ]
    assert reranked(reranker, searches[:1], [Ranking()], corpus) == [Ranking()]


@pytest.mark.parametrize("count", [1, 40, SHARD + 70])
def test_the_first_stage_is_exact(count: int) -> None:
    """The order is that of the definition, ties in the order of the corpus."""
    corpus = _random(count)
    queries = ["alpha zeta", "iota", "mu xi kappa", "eta eta"]

    searches = [Search(str(n), q) for n, q in enumerate(queries)]
    found = rankings(LateInteraction(10, LETTERS, EXACT), searches, corpus)

    for query, ranking in zip(queries, found, strict=True):
        assert list(ranking.passage_ids) == _reference(query, corpus)[:10]


def test_a_ranking_does_not_depend_on_other_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids and scores are the same alone and in blocks of any size."""
    corpus = _random(300)
    draw = np.random.default_rng(9)
    searches = [Search(str(n), " ".join(draw.choice(WORDS, size=3))) for n in range(20)]
    retriever = LateInteraction(7, LETTERS)

    together = rankings(retriever, searches, corpus)
    alone = [rankings(retriever, [search], corpus)[0] for search in searches]
    monkeypatch.setattr(limits, "MAXSIM_SCORES", 300 * 3)
    monkeypatch.setattr(limits, "MAXSIM_TOKEN_PRODUCTS", 900)

    assert together == alone == rankings(retriever, searches, corpus)


def test_reranking_all_that_the_first_stage_found_changes_nothing() -> None:
    """Both compute the same score for a pair."""
    corpus = _random(60)
    searches = [Search("q", "alpha theta")]
    first = rankings(LateInteraction(20, LETTERS), searches, corpus)

    (again,) = reranked(MaxSim(20, 20, LETTERS), searches, first, corpus)

    assert list(again.passage_ids) == list(first[0].passage_ids)
    np.testing.assert_allclose(again.scores, first[0].scores, rtol=1e-6)


def test_kept_vectors_are_read_and_not_computed_again(tmp_path: Path) -> None:
    """A second run and the reranker read them; a killed run continues at its shard."""
    corpus = _random(SHARD + 20, Store(tmp_path))
    searches = [Search("q", "alpha theta")]
    retriever = LateInteraction(30, LETTERS)
    EMBEDDED.clear()
    index = TokenIndex(Letters(), "int8", Services(corpus=corpus))
    index.computed(0, SilentBar())  # as far as the killed run came
    first = rankings(retriever, searches, corpus)
    assert len(EMBEDDED) == SHARD + 20

    second = rankings(LateInteraction(30, LETTERS), searches, corpus)
    reranker = MaxSim(30, 30, LETTERS)
    kept = reranked(reranker, searches, first, corpus)
    assert len(EMBEDDED) == SHARD + 20

    without_store = reranked(reranker, searches, first, replace(corpus, store=None))
    assert second == first
    assert kept == without_store


def test_passages_without_any_word_can_be_kept(tmp_path: Path) -> None:
    """A shard without a single vector is read back as one."""
    corpus = _corpus("", " ", store=Store(tmp_path))

    for _ in range(2):
        (ranking,) = rankings(LateInteraction(2, LETTERS), [Search("q", "alpha")], corpus)
        assert list(ranking.passage_ids) == ["p0", "p1"]
        assert list(ranking.scores) == [0.0, 0.0]


def test_vectors_that_would_not_fit_are_refused_after_one_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate is from the first passages; the error suggests a reranker."""
    corpus = _random(SHARD * 3, Store(tmp_path))
    EMBEDDED.clear()
    monkeypatch.setattr(room, "free_disk", lambda _: 1000)

    with pytest.raises(RagstoneError, match=r"storing the token vectors of 768 .* maxsim"):
        rankings(LateInteraction(embedder=LETTERS), [Search("q", "alpha")], corpus)

    assert len(EMBEDDED) == SHARD


def test_an_embedder_that_breaks_its_contract_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Illegal vectors and missing texts are errors that name the embedder."""
    corpus, searches = _corpus("alpha beta", "gamma"), [Search("q", "alpha")]
    strange: list[tuple[object, str]] = [
        ([1.0, 1.0], r"an array of shape \(\), expected \(tokens, dimension\)"),
        ([np.ones((2, 3), np.float32)], "returned 1 values for 2 items"),
        ([np.ones((1, 3)), np.ones((1, 4))], "vectors of 4 dimensions, and of 3 before"),
        ([np.ones((1, 3)), np.full((1, 3), np.nan)], "not finite for the text 'gamma'"),
    ]
    query = Letters().rows("alpha")
    for found, problem in strange:
        vectors = {"passage": found, "query": [query]}
        monkeypatch.setattr(Letters, "embed", lambda *_, role, found=vectors, **__: found[role])
        with pytest.raises((ConfigError, ComponentError), match=problem):
            rankings(LateInteraction(embedder=LETTERS), searches, corpus)


def test_the_key_contains_everything_that_changes_scores() -> None:
    """The key has the embedder and the precision; wrong values are errors at creation."""
    assert cache_key_parts(MaxSim()) != cache_key_parts(MaxSim(precision="float16"))
    assert cache_key_parts(MaxSim()) != cache_key_parts(
        MaxSim(embedder="minilm-tokens(precision=float32)")
    )
    with pytest.raises(UnknownComponent, match="did you mean 'minilm-tokens'"):
        MaxSim(embedder="minilm-token")
    with pytest.raises(ConfigError, match="only depth=5"):
        MaxSim(top_k=10, depth=5)
    retriever = LateInteraction(embedder=LETTERS)
    assert rankings(retriever, [], _corpus("alpha")) == []
    assert rankings(retriever, [Search("q", "a")], _corpus()) == [Ranking()]


def test_a_query_without_a_word_finds_nothing() -> None:
    """Its ranking is empty."""
    searches = [Search("q1", ""), Search("q2", "alpha")]

    retriever = LateInteraction(embedder=LETTERS)
    nothing, found = rankings(retriever, searches, _corpus("beta", "alpha"))

    assert nothing == Ranking()
    assert found.passage_ids[0] == "p1"
