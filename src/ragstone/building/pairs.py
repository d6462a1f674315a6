"""Taking a question with its answer from a writer's reply, and the checks of two passages."""

from __future__ import annotations

from typing import Final

from ragstone.building.draft import Draft
from ragstone.building.reply_parsing import (
    Rejected,
    check_grounded,
    check_not_given,
    read_pair,
)
from ragstone.text.normalise import pieces

GROUNDED: Final = 0.5
"""Smallest share of an answer's content words that are in the passages."""


def take_pair(draft: Draft, reply: str, prompt: str) -> None:
    """Read question and answer into a draft; raise `Rejected` if one of them is unusable."""
    draft.question, draft.answer = read_pair(reply, prompt)
    check_pair(draft)


def check_pair(draft: Draft) -> None:
    """Raise `Rejected` if the question has the answer, or the answer is not of the passages."""
    check_not_given(draft.question, draft.answer)
    if draft.asked_label != "reasoning":
        check_grounded(draft.answer, [p.full_text for p in draft.passages], GROUNDED)


def check_both_needed(draft: Draft, text: str) -> None:
    """Raise `Rejected` if a text has no word of one of the two passages alone."""
    used = set(pieces(text.replace(draft.labels["link"], "")))
    words = [set(pieces(passage.full_text)) for passage in draft.passages]
    for passage, own, other in zip(draft.passages, words, words[::-1], strict=True):
        if not used & (own - other):
            raise Rejected(
                f"one passage is enough: nothing in it is from {passage.passage_id} alone"
            )
