"""The edit score: how much people changed an answer of the agent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.rouge_l import RougeL
from ragstone.statistics.summary import Summary, summarise
from ragstone.web import limits

_WHOLE: Final = 100.0
_WORDS: Final = re.compile(r"[\w'-]+\s*|[^\w\s]\s*|\s+")
"""Words and signs, each with the space after it."""


def edit_score(original: str, final: str) -> float:
    """Return 100 x (1 - F of ROUGE-L) of two texts; 0 means that the answer is as it came.

    A change of case or punctuation alone is 0 too: ROUGE-L compares words.

    >>> edit_score("It sails at six.", "It sails at six."), edit_score("Six.", "At noon.")
    (0.0, 100.0)
    """
    return edit_scores([(original, final)])[0]


def edit_scores(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the edit scores of pairs of the agent's text and the final one."""
    size = len(pairs)
    originals, finals = [one for one, _ in pairs], [(one,) for _, one in pairs]
    batch = AnswerBatch(originals, finals, [""] * size, [None] * size, [""] * size)
    shared: Iterable[float] = RougeL().values(batch) if pairs else ()
    return [
        # Texts without words, such as signs alone, have no ROUGE-L.
        0.0 if original == final else _WHOLE * (1 - float(f))
        for (original, final), f in zip(pairs, shared, strict=True)
    ]


def mean_edit_score(scores: Sequence[float], conversations: Sequence[Hashable]) -> Summary:
    """Return the mean edit score with its interval over conversations."""
    return summarise(scores, clusters=conversations, bounds=(0.0, _WHOLE))


def changed_words(before: str, after: str) -> list[tuple[str, str]]:
    """Return two texts in parts: in both (`span`), only in the first (`del`) or the second (`ins`).

    >>> changed_words("It sails at six.", "It sails at noon.")
    [('span', 'It sails at '), ('del', 'six'), ('ins', 'noon'), ('span', '.')]
    """
    if before == after:
        return [("span", before)] if before else []
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > limits.DIFF_WORDS or _pairs(old, new) > limits.DIFF_PAIRS:
        return [one for one in (("del", before), ("ins", after)) if one[1]]
    return list(_parts(old, new))


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of pairs of equal words of two lists."""
    first, second = (Counter(word.strip() for word in words) for words in (old, new))
    return sum(count * second[word] for word, count in first.items())


def _parts(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the parts of two lists of words, each with the space after it."""
    i = j = 0
    bare, bare_new = ([word.strip() for word in words] for words in (old, new))
    matcher = SequenceMatcher(None, bare, bare_new, autojunk=False)
    for place, other, size in matcher.get_matching_blocks():
        common = new[other : other + size]
        is_end = place + size == len(old) and other + size == len(new)
        if not (is_end or any(map(str.isalnum, "".join(common)))):
            # Signs alone, between two changes, are no part that both texts have.
            continue
        removed, added = "".join(old[i:place]), "".join(new[j:other])
        parts = (("del", removed), ("ins", added), ("span", "".join(common)))
        yield from (one for one in parts if one[1])
        i, j = place + size, other + size
