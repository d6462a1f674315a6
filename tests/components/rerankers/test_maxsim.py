"""Late interaction over token vectors that can be checked by eye, as reranker and first stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ragstone.components.rerankers.maxsim import MaxSim
from ragstone.components.retrievers import late_interaction
from ragstone.components.retrievers.late_interaction import LateInteraction
from ragstone.core import resources as room
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.store import Store
from ragstone.core.vectors import TokenVectors
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError, RagstoneError, UnknownComponent
from ragstone.indexes import token_vectors
from ragstone.indexes.token_vectors import SHARD, maxsim
from ragstone.types import Passage, Ranking, Search

EMBEDDED: list[str] = []


@dataclass(frozen=True)
class Letters:
    """One vector a word, of three dimensions, drawn from the word itself."""

    seed: int = 0

    def query_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of each query's words."""
        return TokenVectors.of([self.rows(text) for text in texts], 3)

    def passage_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of each passage's words, and remember who asked."""
        EMBEDDED.extend(texts)
        return self.query_tokens(texts)

    def rows(self, text: str) -> Any:
        """Return unit vectors that depend on each word alone."""
        drawn = [
            np.random.default_rng([self.seed, *word.encode()]).normal(size=3)
            for word in text.split()
        ]
        held = np.array(drawn, dtype=np.float32).reshape(len(drawn), 3)
        return held / np.maximum(np.linalg.norm(held, axis=1, keepdims=True), 1e-9)


LETTERS = f"{__name__}:Letters"
EXACT: Final = "float32"
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def _corpus(*texts: str, store: Store | None = None) -> Corpus:
    made = Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])
    return replace(made, store=store)


def _random(count: int, store: Store | None = None) -> Corpus:
    draw = np.random.default_rng(5)
    texts = [" ".join(draw.choice(WORDS, size=draw.integers(0, 6))) for _ in range(count)]
    return _corpus(*texts, store=store)


def _reference(query: str, corpus: Corpus) -> list[str]:
    """Return the ids in the order of the definition, written out."""
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
    """`depth` is what is looked at, `top_k` what is returned."""
    corpus = _corpus("beta", "alpha beta", "gamma", "alpha")
    given = Ranking(["p0", "p2", "p1", "p3"], [4.0, 3.0, 2.0, 1.0])

    (ranking,) = MaxSim(2, 3, LETTERS, EXACT).rerank([Search("q", "alpha")], [given], corpus)

    assert ranking.passage_ids[0] == "p1"
    assert len(ranking) == 2
    assert "p3" not in ranking.passage_ids
    assert ranking.scores[0] == pytest.approx(1.0)


def test_a_passage_is_embedded_once_for_all_queries_that_rank_it() -> None:
    """And one that nobody ranks is not embedded."""
    corpus = _corpus("alpha", "beta", "gamma")
    EMBEDDED.clear()
    rankings = [Ranking(["p1", "p0"], [2.0, 1.0])] * 3

    MaxSim(embedder=LETTERS, precision=EXACT).rerank(
        [Search(str(n), "beta") for n in range(3)], rankings, corpus
    )

    assert EMBEDDED == ["alpha", "beta"]


def test_awkward_rankings_come_back_whole() -> None:
    """Nothing, one, passages without a word, duplicates: no passage is lost, none invented."""
    corpus = _corpus("alpha", "alpha", "", "beta")
    rankings = [
        Ranking(),
        Ranking(["p3"], [1.0]),
        Ranking(["p2", "p1", "p0"], [3.0, 2.0, 1.0]),
        Ranking(["p2", "p3"], [2.0, 1.0]),
    ]
    searches = [Search(str(n), text) for n, text in enumerate(["alpha", "beta", "alpha", ""])]

    found = MaxSim(embedder=LETTERS, precision=EXACT).rerank(searches, rankings, corpus)

    assert [list(ranking.passage_ids) for ranking in found] == [
        [],
        ["p3"],
        ["p1", "p0", "p2"],
        ["p2", "p3"],
    ]
    assert MaxSim(embedder=LETTERS, precision=EXACT).rerank(searches[:1], [Ranking()], corpus) == [
        Ranking()
    ]


@pytest.mark.parametrize("count", [1, 40, SHARD + 70])
def test_the_first_stage_is_exact(count: int) -> None:
    """The order is that of the definition, ties in the order of the corpus."""
    corpus = _random(count)
    queries = ["alpha zeta", "iota", "mu xi kappa", "eta eta"]

    found = LateInteraction(10, LETTERS, EXACT).retrieve(
        [Search(str(n), q) for n, q in enumerate(queries)], corpus
    )

    for query, ranking in zip(queries, found, strict=True):
        assert list(ranking.passage_ids) == _reference(query, corpus)[:10]


def test_a_ranking_does_not_depend_on_other_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, together, in blocks of any size: the same ids and scores."""
    corpus = _random(300)
    draw = np.random.default_rng(9)
    searches = [Search(str(n), " ".join(draw.choice(WORDS, size=3))) for n in range(20)]
    retriever = LateInteraction(7, LETTERS)

    together = retriever.retrieve(searches, corpus)
    alone = [retriever.retrieve([search], corpus)[0] for search in searches]
    monkeypatch.setattr(late_interaction, "_SCORES", 300 * 3)
    monkeypatch.setattr(late_interaction, "_PRODUCT", 900)

    assert together == alone == retriever.retrieve(searches, corpus)


def test_reranking_all_that_the_first_stage_found_changes_nothing() -> None:
    """Both compute the same score for a pair."""
    corpus = _random(60)
    searches = [Search("q", "alpha theta")]
    first = LateInteraction(20, LETTERS).retrieve(searches, corpus)

    (again,) = MaxSim(20, 20, LETTERS).rerank(searches, first, corpus)

    assert list(again.passage_ids) == list(first[0].passage_ids)
    np.testing.assert_allclose(again.scores, first[0].scores, rtol=1e-6)


def test_kept_vectors_are_read_and_not_computed_again(tmp_path: Path) -> None:
    """By a second run, and by the reranker; a run that was killed goes on at its shard."""
    corpus = _random(SHARD + 20, Store(tmp_path))
    searches = [Search("q", "alpha theta")]
    retriever = LateInteraction(30, LETTERS)
    EMBEDDED.clear()
    token_vectors.token_shard(corpus, Letters(), "int8", 0)  # as far as the killed run came
    first = retriever.retrieve(searches, corpus)
    assert len(EMBEDDED) == SHARD + 20

    second = LateInteraction(30, LETTERS).retrieve(searches, corpus)
    kept = MaxSim(30, 30, LETTERS).rerank(searches, first, corpus)
    assert len(EMBEDDED) == SHARD + 20

    without_store = MaxSim(30, 30, LETTERS).rerank(searches, first, replace(corpus, store=None))
    assert second == first
    assert kept == without_store


def test_passages_without_any_word_can_be_kept(tmp_path: Path) -> None:
    """A shard without a single vector is read back as one."""
    corpus = _corpus("", " ", store=Store(tmp_path))

    for _ in range(2):
        (ranking,) = LateInteraction(2, LETTERS).retrieve([Search("q", "alpha")], corpus)
        assert list(ranking.passage_ids) == ["p0", "p1"]
        assert list(ranking.scores) == [0.0, 0.0]


def test_what_would_not_fit_is_refused_after_one_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate comes from the first passages; the way out is a reranker."""
    corpus = _random(SHARD * 3, Store(tmp_path))
    EMBEDDED.clear()
    monkeypatch.setattr(room, "free_disk", lambda _: 1000)

    with pytest.raises(RagstoneError, match=r"keeping the token vectors of 768 .* maxsim"):
        LateInteraction(embedder=LETTERS).retrieve([Search("q", "alpha")], corpus)

    assert len(EMBEDDED) == SHARD


def test_an_embedder_that_breaks_its_contract_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that are not finite, too few texts, or something else altogether."""
    corpus, searches = _corpus("alpha beta", "gamma"), [Search("q", "alpha")]
    strange: list[tuple[object, str]] = [
        ([1.0], "must return `TokenVectors`, found list"),
        (TokenVectors.of([np.ones((2, 3), np.float32)], 3), "returned 1 texts"),
        (
            TokenVectors.of([np.ones((1, 3), np.float32), np.full((1, 3), np.nan, np.float32)], 3),
            "not finite, for the text 'gamma'",
        ),
    ]
    for found, problem in strange:
        monkeypatch.setattr(Letters, "passage_tokens", lambda _, __, found=found: found)
        with pytest.raises(ConfigError, match=problem):
            LateInteraction(embedder=LETTERS).retrieve(searches, corpus)


def test_the_recipe_holds_what_the_scores_hang_on() -> None:
    """Embedder and rounding; mistakes are found before anything is run."""
    assert cache_key_parts(MaxSim()) != cache_key_parts(MaxSim(precision="float16"))
    assert cache_key_parts(MaxSim()) != cache_key_parts(
        MaxSim(embedder="minilm-tokens(precision=float32)")
    )
    with pytest.raises(UnknownComponent, match="did you mean 'minilm-tokens'"):
        MaxSim(embedder="minilm-token")
    with pytest.raises(ConfigError, match="only depth=5"):
        MaxSim(top_k=10, depth=5)
    assert LateInteraction(embedder=LETTERS).retrieve([], _corpus("alpha")) == []
    assert LateInteraction(embedder=LETTERS).retrieve([Search("q", "a")], _corpus()) == [Ranking()]


def test_a_query_without_a_word_finds_nothing() -> None:
    """No passage is nearer than another: a ranking would be the corpus's own order."""
    searches = [Search("q1", ""), Search("q2", "alpha")]

    nothing, found = LateInteraction(embedder=LETTERS).retrieve(searches, _corpus("beta", "alpha"))

    assert nothing == Ranking()
    assert found.passage_ids[0] == "p1"
