"""Dense retrieval over vectors that can be checked by eye."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from tests.support import rankings

from ragstone.components.retrievers.dense import Dense
from ragstone.core import limits
from ragstone.core.component import Outcome, run_component
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.core.step_notes import collect_facts, collect_notes
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import CallError, ConfigError, RagstoneError, UnknownComponent
from ragstone.indexes import exact_knn as nearest
from ragstone.indexes.quantisation import Precision
from ragstone.protocols import Role, Services
from ragstone.types import Passage, Ranking, Search


@dataclass(frozen=True)
class Written:
    """Reads the vector from the text itself; queries may be turned around."""

    sign: float = 1.0

    def embed(self, texts: Sequence[str], role: Role) -> npt.NDArray[np.float32]:
        """Return the numbers written in each text."""
        rows = np.array([[float(n) for n in text.split()] for text in texts], dtype=np.float32)
        return self.sign * rows if role == "query" else rows


WRITTEN = f"{__name__}:Written"


def _corpus(*texts: str) -> Corpus:
    return Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])


def test_nearest_first() -> None:
    """Passages are ordered by inner product, negative ones included."""
    corpus = _corpus("0 1", "1 0", "-1 0", "2 2")
    (ranking,) = rankings(Dense(embedder=WRITTEN), [Search("q", "1 0.5")], corpus)
    assert list(ranking.passage_ids) == ["p3", "p1", "p0", "p2"]
    assert list(ranking.scores) == [3.0, 1.0, 0.5, -1.0]


@pytest.mark.parametrize("top_k", [1, 2, 3])
def test_ties_are_in_the_order_of_the_corpus(top_k: int) -> None:
    """Equal passages are in the order of the corpus, also at the cut."""
    corpus = _corpus(*["0.3 0.7"] * 40)
    (ranking,) = rankings(Dense(top_k=top_k, embedder=WRITTEN), [Search("q", "0.1 0.9")], corpus)
    assert list(ranking.passage_ids) == [f"p{n}" for n in range(top_k)]


def test_a_ranking_does_not_depend_on_other_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """One at a time, in blocks or all at once: the same ids and the same scores."""
    random = np.random.default_rng(3)
    corpus = _corpus(*[" ".join(map(str, row)) for row in random.normal(size=(300, 24)).round(1)])
    rows = random.normal(size=(50, 24)).round(1)
    searches = [Search(str(n), " ".join(map(str, row))) for n, row in enumerate(rows)]
    retriever = Dense(top_k=7, embedder=WRITTEN)
    together = rankings(retriever, searches, corpus)
    alone = [rankings(retriever, [search], corpus)[0] for search in searches]
    monkeypatch.setattr(nearest, "_QUERIES", 7)
    assert together == alone == rankings(retriever, searches, corpus)
    assert all(len(ranking) == 7 for ranking in together)


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_lower_precision_scores_the_stored_vectors(precision: Precision) -> None:
    """Scores are those of the rounded vectors, in the same order."""
    corpus = _corpus("0.2 1", "1 0", "-1 0", "0.7 0.7")
    retriever = Dense(embedder=WRITTEN, precision=precision)
    (ranking,) = rankings(retriever, [Search("q", "1 2")], corpus)
    assert list(ranking.passage_ids) == ["p0", "p3", "p1", "p2"]
    np.testing.assert_allclose(ranking.scores, [2.2, 2.1, 1.0, -1.0], atol=0.01)
    assert ranking.scores[0] != np.float32(2.2)


def test_one_passage_and_more_places_than_passages() -> None:
    """The ranking is as long as the corpus and contains both of two equal texts."""
    (one,) = rankings(Dense(top_k=9, embedder=WRITTEN), [Search("q", "1 0")], _corpus("2 0"))
    assert (list(one.passage_ids), list(one.scores)) == (["p0"], [2.0])
    (two,) = rankings(Dense(top_k=9, embedder=WRITTEN), [Search("q", "1 0")], _corpus("2 0", "2 0"))
    assert list(two.passage_ids) == ["p0", "p1"]


def test_the_bytes_added_to_the_store_are_known_before(tmp_path: Path) -> None:
    """The bytes follow from precision and dimension; stored vectors add none."""
    corpus = Corpus(_corpus("1 0", "0 1").table, Store(tmp_path))
    told = f"{__name__}:Told"
    services = Services(corpus=corpus)
    assert Dense(embedder=WRITTEN).index_bytes(services) == {}
    ((key, size),) = Dense(embedder=told).index_bytes(services).items()
    ((_, small),) = Dense(embedder=told, precision="int8").index_bytes(services).items()
    assert Dense(9, embedder=told).index_bytes(services) == {key: size}, "the same vectors"
    assert (size, small) == (2 * 2 * 4, 2 * (2 + 4))
    assert not (tmp_path / "arrays").exists()
    rankings(Dense(embedder=told), [Search("q", "1 0")], corpus)
    assert Dense(embedder=told).index_bytes(services) == {}
    assert Dense(embedder=told, precision="int8").index_bytes(services)


@dataclass(frozen=True)
class Told(Written):
    """The same, with a declared dimension."""

    dimension: ClassVar[int] = 2


def test_the_embedder_is_part_of_the_recipe() -> None:
    """Its parameters and the precision are part of the key too."""
    assert cache_key_parts(Dense(precision="int8")) != cache_key_parts(Dense())
    assert cache_key_parts(Dense(embedder=WRITTEN)) != cache_key_parts(
        Dense(embedder=f"{WRITTEN}(sign=-1)")
    )
    assert cache_key_parts(Dense()) != cache_key_parts(Dense(embedder="minilm(precision=float32)"))


def test_the_embedders_parameters_are_used() -> None:
    """A spec with parameters gives another embedder."""
    corpus = _corpus("1 0", "-1 0")
    turned = Dense(embedder=f"{WRITTEN}(sign=-1)")
    assert list(rankings(turned, [Search("q", "1 0")], corpus)[0].passage_ids) == ["p1", "p0"]


def test_nothing_to_search() -> None:
    """Without queries there are no rankings; an empty corpus has empty rankings."""
    assert rankings(Dense(embedder=WRITTEN), [], _corpus("1 0")) == []
    (ranking,) = rankings(Dense(embedder=WRITTEN), [Search("q", "1 0")], _corpus())
    assert len(ranking) == 0


def test_mistakes_are_found_before_anything_is_embedded() -> None:
    """The error has the nearest name of an unknown embedder or parameter."""
    with pytest.raises(UnknownComponent, match="unknown embedder 'minilmm'; did you mean 'minilm'"):
        Dense(embedder="minilmm")
    with pytest.raises(ConfigError, match="unknown key 'precison'; did you mean 'precision'"):
        Dense(embedder="minilm(precison=int8)")
    with pytest.raises(ConfigError, match="top_k must be 1 or more"):
        Dense(top_k=0)


@dataclass(frozen=True)
class Refusing:
    """Cannot embed `?`, nor a text that begins with a minus."""

    def embed(self, text: str) -> Any:
        """Return the numbers written in the text."""
        if text.startswith("-"):
            return Outcome(None, "the server is busy", retry=True)
        if text == "?":
            return Outcome(None, "no numbers")
        return np.array([float(n) for n in text.split()], dtype=np.float32)


def test_a_query_that_cannot_be_embedded_has_an_empty_ranking_and_a_reason() -> None:
    """The other queries are ranked; the next run repeats a failed call."""
    retriever = Dense(embedder=f"{__name__}:Refusing")
    searches = [Search(text, text) for text in ("?", "1 0", "-1 0")]

    outcomes = run_component(retriever, Services(corpus=_corpus("2 0")), searches)

    assert [len(outcome.value) for outcome in outcomes] == [0, 1, 0]
    assert [outcome.reason for outcome in outcomes] == ["no numbers", "", "the server is busy"]
    assert [outcome.retry for outcome in outcomes] == [False, False, True]


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [("?", RagstoneError, "no numbers"), ("-1 0", CallError, "the server is busy")],
)
def test_a_passage_that_cannot_be_embedded_stops_the_index(
    text: str, kind: type[RagstoneError], reason: str
) -> None:
    """The error has the passage and the reason."""
    retriever = Dense(embedder=f"{__name__}:Refusing")

    with pytest.raises(kind, match=rf"the passage 'p1' \('.*'\): {reason}"):
        rankings(retriever, [Search("q", "1 0")], _corpus("2 0", text))


def test_queries_of_another_dimension_are_refused() -> None:
    """The two lengths are part of the error."""
    with pytest.raises(ConfigError, match="3 dimensions for queries, and of 2 for passages"):
        rankings(Dense(embedder=WRITTEN), [Search("q", "1 0 0")], _corpus("1 0"))


def test_long_and_empty_texts_are_searched_and_counted() -> None:
    """A passage of 100,000 words and a long query are cut, with notes."""
    texts = ["gold stone " * 50_000, "Paris is the capital of France.", ""]
    corpus = Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])
    asked = ["capital of France", "", "gold stone " * 400]

    with collect_notes() as notes:
        searches = [Search(f"q{n}", text) for n, text in enumerate(asked)]
        found = rankings(Dense(), searches, corpus)

    assert [len(ranking) for ranking in found] == [3, 3, 3]
    assert [found[0].passage_ids[0], found[2].passage_ids[0]] == ["p1", "p0"]
    assert dict(notes) == {"passages cut to 512 tokens": 1, "queries cut to 512 tokens": 1}


def test_keys_of_exact_searches_do_not_know_of_approximate_ones() -> None:
    """A target without `ann` is in no key; with it, both are."""
    keys = [
        cache_key_parts(Dense(embedder=WRITTEN, **more))["parameters"]
        for more in ({}, {"recall": 0.9}, {"ann": "ivf"}, {"ann": "ivf", "recall": 0.9})
    ]
    assert keys[0] == keys[1]
    assert not {"ann", "recall"} & keys[0].keys()
    assert keys[3] == {**keys[0], "ann": "ivf", "recall": 0.9}
    assert keys[2]["recall"] == 0.95


@pytest.mark.parametrize("recall", [0, -1, 1.01, float("nan")])
def test_a_target_that_is_no_share_is_refused(recall: float) -> None:
    """The message has the value."""
    with pytest.raises(ConfigError, match=f"at most 1, found {recall}"):
        Dense(embedder=WRITTEN, ann="ivf", recall=recall)


def test_an_unknown_index_is_refused() -> None:
    """The message names those that there are."""
    with pytest.raises(ConfigError, match="ivf"):
        create("retrievers", {"name": "dense", "ann": "ifv", "embedder": WRITTEN}, where="dense")


def _random(count: int, seed: int = 0) -> list[str]:
    rows = np.random.default_rng(seed).normal(size=(count, 8)).round(2)
    return [" ".join(map(str, row)) for row in rows]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_an_approximate_search_keeps_its_recall(
    precision: Precision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fact has the five fields; over the measured queries the recall is the stated one."""
    monkeypatch.setattr(limits, "APPROXIMATE_FROM", 800)
    corpus = _corpus(*_random(900))
    searches = [Search(str(n), text) for n, text in enumerate(_random(300, 1))]
    exact = rankings(Dense(10, WRITTEN, precision), searches, corpus)
    with collect_facts() as facts:
        found = rankings(Dense(10, WRITTEN, precision, "ivf", 0.9), searches, corpus)
    ann = facts["ann"]
    assert list(ann) == ["target", "recall", "lower_bound", "n", "nprobe"]
    assert (ann["target"], ann["n"]) == (0.9, 300)
    assert 0.9 <= ann["lower_bound"] < ann["recall"] < 1
    shares = [
        np.mean(np.array(one.scores) >= other.scores[-1]) * len(one.scores) / 10
        for one, other in zip(found, exact, strict=True)
    ]
    assert np.mean(shares) == pytest.approx(ann["recall"])


@pytest.mark.parametrize(("count", "recall"), [(799, 0.9), (900, 1.0)])
def test_small_corpora_and_a_recall_of_1_are_searched_exactly(
    count: int, recall: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note tells it, and there is no measured recall."""
    monkeypatch.setattr(limits, "APPROXIMATE_FROM", 800)
    corpus, searches = _corpus(*_random(count)), [Search("q", _random(1, 1)[0])]
    with collect_facts() as facts, collect_notes() as notes:
        found = rankings(Dense(10, WRITTEN, ann="ivf", recall=recall), searches, corpus)
    assert found == rankings(Dense(10, WRITTEN), searches, corpus)
    ((note, passages),) = notes.items()
    assert (passages, facts) == (count, {})
    assert "searched exactly" in note
    assert limits.MEASURED_QUERIES == 500


def test_too_few_queries_to_show_a_recall_are_searched_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The number of queries is told; no queries measure nothing."""
    monkeypatch.setattr(limits, "APPROXIMATE_FROM", 800)
    corpus = _corpus(*_random(900))
    searches = [Search(str(n), text) for n, text in enumerate(_random(3, 1))]
    retriever = Dense(10, WRITTEN, ann="ivf", recall=0.9)
    with collect_facts() as facts, collect_notes() as notes:
        assert rankings(retriever, [], corpus) == []
        assert facts == {}
        assert rankings(retriever, searches, corpus) == rankings(
            Dense(10, WRITTEN), searches, corpus
        )
    assert (facts["ann"]["n"], facts["ann"]["recall"]) == (3, 1.0)
    (note,) = notes
    assert note.startswith("queries searched exactly: ")
    assert "at least " in note
    assert "of 3 measured queries, below the target 0.9" in note


def test_collections_are_one_fact_and_a_second_search_is_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two searches within a step, one per collection, then the same again from the index."""
    monkeypatch.setattr(limits, "APPROXIMATE_FROM", 800)
    corpora = [_corpus(*_random(900, seed)) for seed in (0, 2)]
    searches = [Search(str(n), text) for n, text in enumerate(_random(200, 1))]
    retriever = Dense(10, WRITTEN, ann="ivf", recall=0.9)

    def both() -> tuple[list[Ranking], dict[str, Any]]:
        with collect_facts() as facts:
            found = [one for corpus in corpora for one in rankings(retriever, searches, corpus)]
        return found, dict(facts)

    found, facts = both()
    assert len(found) == 400
    assert facts["ann"]["n"] == 400
    assert facts["ann"]["lower_bound"] >= 0.9
    assert both() == (found, facts)
