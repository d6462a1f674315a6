"""The edit score: how much people changed an answer of the agent."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.rouge_l import RougeL
from ragstone.statistics.summary import Summary, summarise

_WHOLE = 100.0


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
    shared = RougeL().values(batch) if pairs else []
    return [
        # Texts without words, such as signs alone, have no ROUGE-L.
        0.0 if original == final else _WHOLE * (1 - float(f))
        for (original, final), f in zip(pairs, shared, strict=True)
    ]


def mean_edit_score(scores: Sequence[float], conversations: Sequence[Hashable]) -> Summary:
    """Return the mean edit score with its interval over conversations."""
    return summarise(scores, clusters=conversations, bounds=(0.0, _WHOLE))
