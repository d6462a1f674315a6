"""BM25: ranks passages by the words that they share with the query."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ragstone.core.component import Outcome
from ragstone.core.progress import track
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError
from ragstone.indexes.bm25_index import WordIndex
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.query_batches import WeighedTerms, search_all
from ragstone.protocols import Retriever, Services
from ragstone.text.analyzer import NONE, Analysis
from ragstone.types import Ranking, Search


@dataclass(frozen=True)
class BM25(Retriever):
    """Okapi BM25 in Lucene's form over title and text.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; the variant that Kamphuis
    and others, ECIR 2020, call Lucene (accurate). A passage that shares no word with the query is
    not ranked. Equal scores are ranked in the order of the corpus.

    Args:
        top_k: maximum length of a ranking.
        k1: term-frequency saturation, from 0: the lower, the less a repeated word adds.
        b: length normalisation, from 0 (none) to 1 (full).
        stemmer: `none`, `porter`, or the English name of a language that Snowball can stem.
        stop_words: `none`, or the language whose most frequent words are left out.
    """

    top_k: int = 100
    k1: float = 1.2
    b: float = 0.75
    stemmer: str = NONE
    stop_words: str = NONE

    def __post_init__(self) -> None:
        """Check the ranges, and that there are such stop words."""
        super().__post_init__()
        if not 0 <= self.k1 < math.inf:
            raise ConfigError(f"k1 must be 0 or more, found {self.k1}")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"b must be between 0 and 1, found {self.b}")
        _ = self._analysis

    @property
    def content_revision(self) -> str | None:
        """The release of the stemmers, if one is used."""
        return self._analysis.content_revision

    def check(self, services: Services) -> None:
        """Raise if the stemmer is not installed."""
        self._analysis.check(services)

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterator[Outcome[Ranking]]:
        """Yield one ranking per search, in order."""
        index = self._index(services.corpus)
        queries = [Counter(self._analysis.of(search.text)) for search in searches]
        numbers = index.vocabulary.find(set().union(*queries))
        known = [_known(query, numbers) for query in queries]
        ids = services.corpus.passage_ids
        found = search_all(index.postings, known, self.top_k)
        for places, scores in track(found, "Searching with BM25", len(queries)):
            yield Outcome(Ranking([ids[place] for place in places.tolist()], scores.tolist()))

    @cached_property
    def _analysis(self) -> Analysis:
        return Analysis(self.stemmer, self.stop_words)

    def _index(self, corpus: Corpus) -> WordIndex:
        given = self._analysis, self.k1, self.b
        return INDEXES.get(
            "bm25", (corpus.content_digest, *given), lambda: WordIndex.of(corpus, *given)
        )


def _known(query: Counter[str], numbers: dict[str, int]) -> WeighedTerms:
    """Return the words of a query that are in the corpus."""
    known = [word for word in query if word in numbers]
    return WeighedTerms([numbers[word] for word in known], [query[word] for word in known])
