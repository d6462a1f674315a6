"""Gold texts of a data set found in the passages of documents, whose borders are others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.text.words import words

_WORDS: Final = 3
"""Words of a shingle: few texts share three words in order by chance."""
_SHARE: Final = 0.4
"""Share of the shingles of the shorter text. It is less than one half, because the shingles across
the border of two passages are in neither of them."""


@dataclass(frozen=True)
class Transferred:
    """The judgements of passages of documents."""

    grades: Mapping[tuple[str, str], int]
    """(query id, passage id) -> relevance."""
    lost: int
    """Number of judgements whose text is in no passage."""


def transferred(dataset: Dataset, corpus: Corpus) -> Transferred:
    """Return the judgements of a data set for the passages of another corpus.

    A judgement of an id that both have stays. Otherwise a passage takes the highest grade above 0
    of the judged texts with which it shares a large part of the shorter one.
    """
    judged = {
        passage_id: dataset.corpus[passage_id].text
        for passage_id in dict.fromkeys(dataset.qrel_table.column("passage_id").to_pylist())
        if passage_id in dataset.corpus and passage_id not in corpus
    }
    places = _places(judged, corpus) if judged else {}
    grades, lost = dict[tuple[str, str], int](), 0
    for query_id, known in dataset.qrels.items():
        for passage_id, grade in known.items():
            targets = [passage_id] if passage_id in corpus else places.get(passage_id, [])
            lost += not targets
            for target in targets if grade > 0 or passage_id in corpus else ():
                grades[query_id, target] = max(grade, grades.get((query_id, target), grade))
    return Transferred(grades, lost)


def _places(texts: Mapping[str, str], corpus: Corpus) -> dict[str, list[str]]:
    """Return the name of each text -> the passages with a large part of it, or of which it has one.

    The corpus is read once.
    """
    sizes, owners = dict[str, int](), defaultdict[int, list[str]](list)
    for name, text in texts.items():
        found = set(_shingles(text))
        sizes[name] = len(found)
        for shingle in found:
            owners[shingle].append(name)
    places = defaultdict[str, list[str]](list)
    for passage in corpus:
        found = set(_shingles(passage.text))
        shared = Counter(name for shingle in found for name in owners.get(shingle, ()))
        for name, count in shared.items():
            if count >= _SHARE * min(len(found), sizes[name]):
                places[name].append(passage.passage_id)
    return places


def _shingles(text: str) -> Iterator[int]:
    found = words(text)
    for start in range(max(1, len(found) - _WORDS + 1) if found else 0):
        yield hash(tuple(found[start : start + _WORDS]))
