"""Pairs of passages from different documents with a rare name in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from ragstone.text.normalise import ENGLISH
from ragstone.types import Passage

_NAME: Final = re.compile(
    r"\b[^\W\d_a-z][\w'\u2019-]+(?:\s+(?:of|de|van)?\s*[^\W\d_a-z][\w'\u2019-]+)*"
)
_RARE: Final = 4
"""Maximum number of passages with a name that links two of them."""
_LOOKS_BACK: Final = 100
"""Characters before a name that show whether it begins a sentence."""
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:\n]\s*[\"'“(]*)$")


def linked(passages: Sequence[Passage]) -> list[tuple[Passage, Passage, str]]:
    """Return the pairs with a common name that occurs in at most four of the passages.

    The passages of a pair are from different documents, if the documents are known. Each pair
    occurs once, with its longest name. A name is a run of capitalised words; a single word counts
    only within a sentence.

    >>> a = Passage("1", "In May the Ardent Bell sank.", document_id="x")
    >>> b = Passage("2", "Nobody saw the Ardent Bell again.", document_id="y")
    >>> [(one.passage_id, name) for one, _, name in linked([a, b])]
    [('1', 'Ardent Bell')]
    """
    holders: dict[str, list[int]] = {}
    for place, passage in enumerate(passages):
        for name in dict.fromkeys(names(passage.full_text)):
            holders.setdefault(name, []).append(place)
    found: dict[tuple[int, int], str] = {}
    for name, places in holders.items():
        if 1 < len(places) <= _RARE:
            for pair in combinations(places, 2):
                one, other = (passages[place].document_id for place in pair)
                if not one or one != other:
                    found[pair] = max(found.get(pair, ""), name, key=len)
    return [(passages[a], passages[b], name) for (a, b), name in sorted(found.items())]


def names(text: str) -> Iterable[str]:
    """Yield the names in a text: runs of capitalised words."""
    for match in _NAME.finditer(text):
        words = match.group().split()
        starts = bool(
            _SENTENCE_START.search(text[max(0, match.start() - _LOOKS_BACK) : match.start()])
        )
        if starts and words[0].lower() in ENGLISH:
            words, starts = words[1:], False
        # One capitalised word that begins a sentence may be any word.
        if (len(words) > 1 or (words and not starts)) and words[0][0].isupper():
            yield " ".join(words)
