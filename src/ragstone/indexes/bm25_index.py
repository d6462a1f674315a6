"""The index of a corpus's words for BM25: counted part by part, stored, and then merged.

A part is some megabytes of passages. With a store, the counts of each part are stored as soon as
they are made, under the part's own texts. A build after a kill, or after passages were added at the
end, counts only the parts that are new. Other values of `k1` and `b` use the same counts.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core.progress import progress
from ragstone.core.resources import require_memory_and_disk
from ragstone.core.user_code import source_digest
from ragstone.indexes.inverted import Postings
from ragstone.indexes.merge import Part, held, merge
from ragstone.indexes.term_counts import Counted, count_words
from ragstone.indexes.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.core.progress import Bar
    from ragstone.data.corpus import Corpus
    from ragstone.text.analyzer import Analysis

    Integers = npt.NDArray[np.integer[Any]]
    Floats = npt.NDArray[np.float32]

_PART: Final = 32_000_000
"""Characters of the passages that are counted together: the most that a kill loses."""
_READ: Final = 2_000
"""Passages read from the table at a time."""
_SAMPLE: Final = 1_000
"""Passages in the sample from which the size of an index is estimated."""
_SURE: Final = 64_000_000
"""Maximum size of a corpus that needs no estimate, in bytes."""
_BASE: Final = 500_000_000
"""Memory for counting one part and merging one block, in bytes."""
_KEPT, _JOINED = 6, 8
"""Bytes of a posting in a part (place, count and its share of the words) and in the index."""


@dataclass(frozen=True)
class WordIndex:
    """The words of a corpus, and the BM25 weight of each in each passage."""

    vocabulary: Vocabulary
    postings: Postings

    @classmethod
    def of(cls, corpus: Corpus, analysis: Analysis, k1: float, b: float) -> WordIndex:
        """Return the index of a corpus, from its store if it is stored there."""
        if corpus.store is None:
            return _build(corpus, analysis, k1, b, None)
        made_of = {
            "corpus": corpus.content_digest,
            "analysis": analysis,
            "k1": k1,
            "b": b,
            "source": source_digest(_build),
        }
        build = partial(_build, corpus, analysis, k1, b)
        folder = corpus.store.files("bm25", made_of, build)
        return cls(Vocabulary.load(folder), Postings.load(folder))


def _build(
    corpus: Corpus, analysis: Analysis, k1: float, b: float, folder: Path | None
) -> WordIndex:
    """Count the words of a corpus and merge the counts, in `folder` unless it is None."""
    _require_memory_and_disk(corpus, analysis)
    with progress("Indexing for BM25", len(corpus)) as bar:
        counted = [_counted(corpus, texts, analysis, bar) for texts in _parts(corpus)]
    found: defaultdict[str, int] = defaultdict(count().__next__)
    parts, lengths, first = [], [np.zeros(0, np.uint32)], 0
    for part in counted:
        own = _opened(part)
        terms = np.fromiter(map(found.__getitem__, own.words), np.int32, len(own.words))
        parts.append(Part(part if isinstance(part, Path) else part.postings, first, terms))
        first += len(own.lengths)
        lengths.append(own.lengths)
    vocabulary = sorted(found)
    order = np.empty(len(vocabulary), dtype=np.int32)
    order[[found[word] for word in vocabulary]] = np.arange(len(vocabulary), dtype=np.int32)
    parts = [replace(part, terms=order[part.terms]) for part in parts]
    counts = held(parts, len(vocabulary))
    weigh = _weigher(counts, np.concatenate(lengths), k1, b)
    joined = merge(parts, len(corpus), counts, reweigh=weigh, folder=folder)
    words = Vocabulary.of(vocabulary)
    if folder is not None:
        words.save(folder)
    return WordIndex(words, joined)


def _weigher(counts: Integers, lengths: Integers, k1: float, b: float) -> Any:
    """Return the function from counts to BM25 weights, in Lucene's exact form.

    ln(1 + (N - n + 0.5) / (n + 0.5)) * tf / (tf + k1 (1 - b + b l / L)), with N passages of L words
    on average, n of which contain the word, and the word tf times among the l of this passage.
    """
    rarity = np.log1p((len(lengths) - counts + 0.5) / (counts + 0.5))
    mean = lengths.mean(dtype=np.float64) if lengths.any() else 1.0
    norms = k1 * (1 - b + b * (lengths / mean))

    def weigh(terms: Integers, places: Integers, tf: Floats) -> Floats:
        return (rarity[terms] * tf / (tf + norms[places])).astype(np.float32)

    return weigh


def _parts(corpus: Corpus) -> Iterator[list[str]]:
    """Yield the texts of the passages that are counted together."""
    texts: list[str] = []
    size = 0
    for start in range(0, len(corpus), _READ):
        for text in corpus.full_texts(start, start + _READ):
            texts.append(text)
            size += len(text)
            if size >= _PART:
                yield texts
                texts, size = [], 0
    if texts:
        yield texts


def _counted(corpus: Corpus, texts: list[str], analysis: Analysis, bar: Bar) -> Counted | Path:
    """Return the counts of one part, or their folder of the store."""
    if corpus.store is None:
        counted: Counted | Path = count_words(texts, analysis)
    else:
        digest = hashlib.sha256(b"\xff".join([text.encode() for text in texts])).hexdigest()
        made_of = {"texts": digest, "analysis": analysis, "source": source_digest(_counted)}
        counted = corpus.store.files(
            "words", made_of, lambda folder: count_words(texts, analysis).save(folder)
        )
    bar.advance(len(texts))
    return counted


def _opened(counted: Counted | Path) -> Counted:
    return Counted.load(counted) if isinstance(counted, Path) else counted


def _require_memory_and_disk(corpus: Corpus, analysis: Analysis) -> None:
    """Raise `RagstoneError` if the index, estimated from a sample, will not fit."""
    if corpus.table.nbytes <= _SURE:
        return
    step = max(1, len(corpus) // _SAMPLE)
    sample = [corpus.at(place).full_text for place in range(0, len(corpus), step)]
    postings = len(count_words(sample, analysis).postings.places) * step
    room = postings * (_KEPT + _JOINED)
    store = corpus.store
    require_memory_and_disk(
        _BASE + (room if store is None else len(corpus) * 20),
        0 if store is None else room,
        f"indexing {len(corpus):,} passages for BM25",
        folder=None if store is None else store.root,
    )
