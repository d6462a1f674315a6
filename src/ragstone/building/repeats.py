"""Queries that repeat an earlier query, word for word or nearly so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.building.draft import Draft
from ragstone.data_quality.duplicates import squeezed
from ragstone.data_quality.shingles import character_shingles, near_pairs
from ragstone.text.normalise import pieces

_SAME_QUESTION: Final = 0.9


def reject_repeats(drafts: Sequence[Draft]) -> None:
    """Reject questions that nearly or exactly repeat the question of an earlier draft."""
    live = [d for d in drafts if d.question and not d.reason]
    first: dict[str, Draft] = {}
    for draft in live:
        before = first.setdefault(" ".join(pieces(squeezed(draft.text))), draft)
        if before is not draft:
            draft.reason = f"repeats the question of {before.item_id}"
    pairs = near_pairs(character_shingles(d.text for d in live), _SAME_QUESTION)
    for pair in sorted(pairs, key=lambda p: p.second):
        one, other = live[pair.first], live[pair.second]
        digits = [[c for c in d.text if c.isdigit()] for d in (one, other)]
        if not (one.reason or other.reason) and digits[0] == digits[1]:
            other.reason = f"nearly repeats the question of {one.item_id}"
