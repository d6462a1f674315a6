"""The word n-grams that the queries and answers of a data set have in common with a corpus.

A text that a model was trained on may have taught it the answer. Brown et al. (2020, appendix C)
compare lower-case words without punctuation, with n-grams of 13 words, or of fewer if the texts of
a benchmark are short, but of at least 8. The corpus is read once, as a stream.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ragstone.text.scripts import UNSPACED

if TYPE_CHECKING:
    from ragstone.types import Query

SIZE: Final = 13
LEAST: Final = 8
"""Words of the shortest n-gram; a shorter text occurs by chance."""
_NEAR: Final = 200
"""Words around an n-gram in which the answer is looked for."""
_BASE: Final = 0x9E3779B97F4A7C15
_WORD: Final = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
Ids = NDArray[np.uint64]


def comparable_words(text: str) -> list[str]:
    """Return the lower-case words of a text; a character in a script without spaces is a word.

    >>> comparable_words("Who wrote “Über” in 東京?")
    ['who', 'wrote', 'über', 'in', '東', '京']
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _WORD.findall(plain.lower())


@dataclass(frozen=True)
class QueryOverlap:
    """The overlap of one query with a corpus."""

    query_id: str
    query_ngrams: int
    """N-grams of the query; 0 if it is shorter than the shortest n-gram."""
    query_found: int
    """Those that the corpus contains."""
    answer_ngrams: int
    """N-grams of the gold answers; short answers have none."""
    answer_found: int
    share: float | None
    """Share of the words that are in one of the n-grams found; None without n-grams."""
    with_answer: bool
    """Whether a gold answer is within 200 words of an n-gram of the query that was found."""
    place: str
    """The first block that contains one; "" if none does."""


@dataclass
class _Text:
    query: int
    is_answer: bool
    ids: Ids
    size: int
    """Words of its n-grams."""
    found: set[int] = field(default_factory=set)
    """Places of the n-grams that the corpus contains."""

    @property
    def ngrams(self) -> int:
        return len(self.ids) - self.size + 1


@dataclass
class OverlapSearch:
    """Looks for the n-grams of queries and gold answers in blocks of text.

    >>> from ragstone.types import Query
    >>> query = Query("q", "Which river does the city of Lisbon lie on?", ("Tagus",))
    >>> search = OverlapSearch([query])
    >>> search.read("web.txt:1", "Quiz: which river does the city of Lisbon lie on? The Tagus!")
    >>> search.overlaps()[0].share, search.overlaps()[0].with_answer
    (1.0, True)
    """

    queries: Sequence[Query]
    size: int = SIZE
    words_read: int = 0
    _vocabulary: dict[str, int] = field(default_factory=dict)
    _places: dict[int, str] = field(default_factory=dict)
    _answered: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Number the words of the queries and the answers."""
        least = min(LEAST, self.size)
        self._least = least
        self._texts: list[_Text] = []
        self._answers: list[list[Ids]] = []
        for place, query in enumerate(self.queries):
            texts = [self._numbered(text) for text in (query.text, *query.gold_answers)]
            self._answers.append([ids for ids in texts[1:] if len(ids)])
            self._texts += [
                _Text(place, number > 0, ids, min(self.size, len(ids)))
                for number, ids in enumerate(texts)
                if len(ids) >= least
            ]

    def _numbered(self, text: str) -> Ids:
        numbers = self._vocabulary
        ids = [numbers.setdefault(word, len(numbers) + 1) for word in comparable_words(text)]
        return np.asarray(ids, dtype=np.uint64)

    @cached_property
    def _anchors(self) -> dict[int, list[tuple[int, int]]]:
        """Hash of the first words of an n-gram -> the texts and the places that have it."""
        found = defaultdict(list)
        for number, text in enumerate(self._texts):
            for place, value in enumerate(_hashes(text.ids, self._least)[: text.ngrams].tolist()):
                found[value].append((number, place))
        return dict(found)

    @cached_property
    def _sorted(self) -> Ids:
        return np.asarray(sorted(self._anchors), dtype=np.uint64)

    def read(self, place: str, text: str) -> None:
        """Look for the n-grams in a block of text, which `place` names."""
        number = self._vocabulary.get
        words = [number(word, 0) for word in comparable_words(text)]
        self.words_read += len(words)
        if len(words) < self._least or not len(self._sorted):
            return
        ids = np.asarray(words, dtype=np.uint64)
        values = _hashes(ids, self._least)
        spots = np.searchsorted(self._sorted, values)
        hits = self._sorted[np.minimum(spots, len(self._sorted) - 1)] == values
        for at in np.flatnonzero(hits).tolist():
            for text_number, offset in self._anchors[int(values[at])]:
                self._check(ids, at, self._texts[text_number], offset, place)

    def _check(self, ids: Ids, at: int, text: _Text, offset: int, place: str) -> None:
        wanted = text.ids[offset : offset + text.size]
        # Equal hashes are not equal words.
        if not np.array_equal(ids[at : at + text.size], wanted):
            return
        text.found.add(offset)
        self._places.setdefault(text.query, place)
        if text.is_answer:
            return
        near = ids[max(0, at - _NEAR) : at + text.size + _NEAR]
        if any(_contains(near, answer) for answer in self._answers[text.query]):
            self._answered.add(text.query)

    def overlaps(self) -> list[QueryOverlap]:
        """Return the overlap of each query with the text read so far, in order."""
        held: dict[int, list[_Text]] = defaultdict(list)
        for text in self._texts:
            held[text.query].append(text)
        return [
            QueryOverlap(
                query.query_id,
                *_counts(text for text in held[place] if not text.is_answer),
                *_counts(text for text in held[place] if text.is_answer),
                _share(held[place]),
                place in self._answered,
                self._places.get(place, ""),
            )
            for place, query in enumerate(self.queries)
        ]


def _hashes(ids: Ids, size: int) -> Ids:
    """Return a hash of each run of `size` words."""
    count = max(0, len(ids) - size + 1)
    found = np.zeros(count, dtype=np.uint64)
    for place in range(size):
        # Horner's rule; the product of arrays wraps around.
        found = found * np.uint64(_BASE) + ids[place : place + count]
    return found


def _contains(ids: Ids, wanted: Ids) -> bool:
    starts = np.flatnonzero(ids[: len(ids) - len(wanted) + 1] == wanted[0]).tolist()
    return any(np.array_equal(ids[at : at + len(wanted)], wanted) for at in starts)


def _counts(texts: Iterable[_Text]) -> tuple[int, int]:
    """Return the number of n-grams, and of those that were found."""
    counts = [(text.ngrams, len(text.found)) for text in texts]
    return sum(all_of for all_of, _ in counts), sum(found for _, found in counts)


def _share(texts: Iterable[_Text]) -> float | None:
    """Return the share of the words that are in an n-gram found."""
    words = covered = 0
    for text in texts:
        words += len(text.ids)
        covered += len({at + n for at in text.found for n in range(text.size)})
    return covered / words if words else None
