"""Nuggets of a written query: the facts that a right answer must have, and those that it may have.

The facts are those that the writer took from the passage (Pradeep et al., 2025, call a fact vital
or okay). Without facts, the gold answer is the one vital nugget.
"""

from __future__ import annotations

from typing import Final

from ragstone.building.draft import Draft
from ragstone.text.normalise import ENGLISH, pieces

_SHARE: Final = 0.6
"""Smallest share of a fact's content words that are in the answer, if the fact is vital."""


def nugget_labels(draft: Draft) -> dict[str, tuple[str, ...]]:
    """Return the labels `vital_nuggets` and `okay_nuggets`; none without an answer.

    >>> draft = Draft("single", "fact_single", (), answer="Ann Hale built it in 1712")
    >>> nugget_labels(draft)
    {'vital_nuggets': ('Ann Hale built it in 1712',)}
    >>> draft.facts = ("It was built by Ann Hale.", "Carts pay two pence.")
    >>> nugget_labels(draft)["okay_nuggets"]
    ('Carts pay two pence.',)
    """
    if not draft.answer:
        return {}
    answer = set(pieces(draft.answer))
    vital = tuple(fact for fact in draft.facts if _is_in(fact, answer))
    okay = tuple(fact for fact in draft.facts if fact not in vital)
    labels = {"vital_nuggets": vital or (draft.answer,), "okay_nuggets": okay}
    return {name: texts for name, texts in labels.items() if texts}


def _is_in(fact: str, answer: set[str]) -> bool:
    words = set(pieces(fact)) - ENGLISH
    return bool(words) and len(words & answer) >= _SHARE * len(words)
