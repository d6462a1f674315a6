"""BM25 by hand-computed values, at its edges, and on real data."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support import rankings

from ragstone.components.retrievers.bm25 import BM25
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError
from ragstone.indexes.cache import INDEXES
from ragstone.text.words import words
from ragstone.types import Passage, Ranking, Search

TEXTS = ["red fish", "blue fish fish", "green bird in a tall tree", "red bird"]


def _corpus(texts: list[str]) -> Corpus:
    return Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])


def _search(retriever: BM25, corpus: Corpus, text: str) -> Ranking:
    (ranking,) = rankings(retriever, [Search("q", text)], corpus)
    return ranking


def _by_hand(texts: list[str], query: str, place: int, k1: float = 1.2, b: float = 0.75) -> float:
    """Lucene's BM25: ln(1 + (N - n + 0.5)/(n + 0.5)) * tf / (tf + k1 (1 - b + b l/L))."""
    split = [text.split() for text in texts]
    mean_length = sum(map(len, split)) / len(split)
    total = 0.0
    for word in query.split():
        holding = sum(word in passage for passage in split)
        frequency = split[place].count(word)
        idf = math.log(1 + (len(split) - holding + 0.5) / (holding + 0.5))
        length = k1 * (1 - b + b * len(split[place]) / mean_length)
        total += idf * frequency / (frequency + length)
    return total


@pytest.mark.parametrize("query", ["fish", "red fish", "bird fish red fish"])
def test_scores_are_those_of_the_formula(query: str) -> None:
    """Scores agree with the written-out formula; passages without a word are left out."""
    ranking = _search(BM25(), _corpus(TEXTS), query)
    expected = {f"p{n}": _by_hand(TEXTS, query, n) for n in range(len(TEXTS))}
    found = dict(zip(ranking.passage_ids, ranking.scores, strict=True))
    assert found == pytest.approx({p: s for p, s in expected.items() if s > 0}, rel=1e-5)
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


def test_parameters_change_the_scores() -> None:
    """`k1` and `b` are used."""
    ranking = _search(BM25(k1=0.4, b=0.1), _corpus(TEXTS), "fish")
    assert ranking.scores[0] == pytest.approx(_by_hand(TEXTS, "fish", 1, k1=0.4, b=0.1), rel=1e-5)


def test_titles_count() -> None:
    """A word of the title finds the passage."""
    corpus = Corpus.from_passages([Passage("p", "by the river", title="Orle"), Passage("q", "x")])
    assert list(_search(BM25(), corpus, "ORLE").passage_ids) == ["p"]


@pytest.mark.parametrize("text", ["", "?!", "unheard of"])
def test_nothing_to_find_is_an_empty_ranking(text: str) -> None:
    """A query without known words has an empty ranking."""
    assert len(_search(BM25(), _corpus(TEXTS), text)) == 0


def test_a_corpus_without_words_is_searched() -> None:
    """Passages of punctuation alone do no harm."""
    assert len(_search(BM25(), _corpus(["...", ""]), "fish")) == 0


@pytest.mark.parametrize(("top_k", "expected"), [(1, ["p0"]), (3, ["p0", "p1", "p2"]), (9, 5)])
def test_ties_are_in_the_order_of_the_corpus(top_k: int, expected: list[str] | int) -> None:
    """Equal scores are cut by position; a `top_k` beyond the corpus returns what there is."""
    ranking = _search(BM25(top_k=top_k), _corpus(["same words"] * 5), "same")
    ids = list(ranking.passage_ids)
    assert ids == (expected if isinstance(expected, list) else [f"p{n}" for n in range(expected)])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"top_k": 0}, "top_k must be 1 or more, found 0"),
        ({"k1": -0.1}, "k1 must be 0 or more"),
        ({"b": 1.5}, "b must be between 0 and 1, found 1.5"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, float], message: str) -> None:
    """The error names the value before the corpus is read."""
    with pytest.raises(ConfigError, match=message):
        BM25(**parameters)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e\u0301tudes ÉTUDES", ["études", "études"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("\uff21\uff22\uff11", ["ab1"]),
        ("東京に行く AI研究", ["東京", "京に", "に行", "行く", "ai", "研究"]),
        ("水", ["水"]),
        ("ครับ", ["คร", "รั", "ับ"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("snake_case don't", ["snake", "case", "don", "t"]),
        ("❤\ufe0f \u0301", []),
    ],
)
def test_words_of_many_scripts(text: str, expected: list[str]) -> None:
    """Accents and vowel signs stay with their word; unspaced scripts give character pairs."""
    assert words(text) == expected


def test_the_level_known_for_real_data(shared_data: Callable[[str], Path]) -> None:
    """The recall on nq_singlehop is that known for plain BM25."""
    folder = shared_data("nq_singlehop")
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    corpus = Corpus.from_passages([Passage(r["_id"], r["text"], r["title"]) for r in rows])
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
        queries = [q for q in map(json.loads, file) if q["source"].startswith("qed")]
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        pairs = {(row[0], row[1]) for row in csv.reader(file, delimiter="\t")}
    searches = [Search(q["_id"], q["text"]) for q in queries]
    found = rankings(BM25(top_k=5), searches, corpus)

    def hits(k: int) -> float:
        return sum(
            any((q["_id"], p) in pairs for p in r.passage_ids[:k])
            for q, r in zip(queries, found, strict=True)
        ) / len(queries)

    assert hits(1) == pytest.approx(0.70, abs=0.01)
    assert hits(5) == pytest.approx(0.857, abs=0.005)


@pytest.mark.parametrize("texts", [[], ["one passage"]], ids=["empty", "one"])
def test_the_smallest_corpora_are_searched(texts: list[str], tmp_path: Path) -> None:
    """A corpus may have no passage or one, with a store or without."""
    corpus = _corpus(texts)
    for made in (corpus, Corpus(corpus.table, Store(tmp_path))):
        INDEXES.clear()
        assert list(_search(BM25(), made, "passage").passage_ids) == ["p0"][: len(texts)]


def test_a_query_of_stop_words_alone_finds_nothing() -> None:
    """With a list of stop words such a query is empty; without one it is searched."""
    assert len(_search(BM25(stop_words="english"), _corpus(TEXTS), "in a")) == 0
    assert list(_search(BM25(), _corpus(TEXTS), "in a").passage_ids) == ["p2"]


def test_a_query_of_ten_thousand_words() -> None:
    """A long query is searched in full, a repeated word counting each time."""
    ranking = _search(BM25(), _corpus(TEXTS), "red fish bird unknown " * 2_500)
    alone = _search(BM25(), _corpus(TEXTS), "red fish bird")
    assert ranking.passage_ids == alone.passage_ids
    assert ranking.scores == pytest.approx([2_500 * score for score in alone.scores], rel=1e-6)


def test_a_passage_of_a_hundred_thousand_words() -> None:
    """Long and short passages are ranked together, with length normalisation."""
    corpus = _corpus(["red " + "filler " * 99_999, "red fish", "blue"])
    assert list(_search(BM25(), corpus, "red").passage_ids) == ["p1", "p0"]


def test_no_query_is_lost() -> None:
    """Every search has its ranking, in order, whatever the others are."""
    texts = ["fish", "", "unheard", "bird", "?!"]
    found = rankings(BM25(), [Search(t, t) for t in texts], _corpus(TEXTS))
    assert [len(ranking) for ranking in found] == [2, 0, 0, 2, 0]
    assert rankings(BM25(), [], _corpus(TEXTS)) == []


def test_the_release_of_the_stemmers_is_part_of_the_key() -> None:
    """Another release may stem differently; without a stemmer it is not in the key."""
    pytest.importorskip("Stemmer")

    assert "PyStemmer" in str(cache_key_parts(BM25(stemmer="porter")))
    assert "revision" not in cache_key_parts(BM25())


@pytest.mark.parametrize("k1", [-0.1, float("nan"), float("inf")])
def test_a_k1_that_cannot_be_is_named(k1: float) -> None:
    """The error comes before the index is built."""
    with pytest.raises(ConfigError, match="k1 must be 0 or more"):
        BM25(k1=k1)
