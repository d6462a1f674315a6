"""BM25: passages that share a query's words, rare words first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ragstone.errors import ConfigError
from ragstone.progress import track
from ragstone.retrievers.ranks import best, check_top_k
from ragstone.retrievers.words import words
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.datasets.corpus import Corpus

_HELD: Final = 2
_indexes: dict[tuple[str, float, float], Index] = {}
"""The indexes used last in this process: several rankings of one corpus need one index."""


@dataclass(frozen=True)
class BM25:
    """Okapi BM25 in Lucene's form over title and text, without stop words or stemming.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; the variant is the one
    that Kamphuis and others, ECIR 2020, call Lucene (accurate). A passage that shares no word with
    the query is not in its ranking; equal scores stand in the order of the corpus.

    Args:
        top_k: length of a ranking at most.
        k1: how soon a repeated word stops counting, from 0.
        b: how much a long passage is held back, 0 to 1.
    """

    top_k: int = 100
    k1: float = 1.2
    b: float = 0.75
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_top_k(self.top_k)
        if self.k1 < 0:
            raise ConfigError(f"k1 must be 0 or more, found {self.k1}")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"b must be between 0 and 1, found {self.b}")

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order."""
        index = self._index(corpus)
        return [
            index.search(search.text, self.top_k)
            for search in track(searches, "Searching with BM25", len(searches))
        ]

    def _index(self, corpus: Corpus) -> Index:
        key = (corpus.digest, self.k1, self.b)
        if key not in _indexes:
            while len(_indexes) >= _HELD:
                _indexes.pop(next(iter(_indexes)))
            _indexes[key] = Index.build(corpus, self.k1, self.b)
        return _indexes[key]


@dataclass(frozen=True)
class Index:
    """Which passages hold which word, and what each counts."""

    passage_ids: Sequence[str]
    vocabulary: dict[str, int]
    """Word -> its number; empty where no passage holds a word."""
    scorer: Any
    """A `bm25s.BM25`; None where the vocabulary is empty."""

    @classmethod
    def build(cls, corpus: Corpus, k1: float, b: float) -> Index:
        """Count the words of a corpus."""
        vocabulary: dict[str, int] = {}
        numbered = [
            [vocabulary.setdefault(word, len(vocabulary)) for word in words(text)]
            for text in track(corpus.full_texts(), "Indexing for BM25", len(corpus))
        ]
        if not vocabulary:
            return cls(corpus.passage_ids, vocabulary, None)
        import bm25s

        scorer = bm25s.BM25(k1=k1, b=b, method="lucene", backend="numpy")
        scorer.index((numbered, vocabulary), create_empty_token=False, show_progress=False)
        return cls(corpus.passage_ids, vocabulary, scorer)

    def search(self, text: str, top_k: int) -> Ranking:
        """Return the ranking of one search text; empty where no word of it is known."""
        known = [self.vocabulary[word] for word in words(text) if word in self.vocabulary]
        if not known:
            return Ranking()
        scores = self.scorer.get_scores_from_ids(known)
        places = best(scores, top_k, above=0.0)
        return Ranking([self.passage_ids[place] for place in places], scores[places].tolist())
