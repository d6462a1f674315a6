"""From a rating to a verdict: what the judges that rate on a scale have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.components.judges.llm_base import unscored
from ragstone.components.judges.questions import Answered
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Rating


def rated(item: Item, answered: Sequence[Answered[Any]], form: Rating, tenths: str = "") -> Verdict:
    """Return the share (r - low) / (high - low); as the part `tenths`, r / high."""
    failed = unscored(item, answered)
    if failed is not None:
        return failed
    rating = float(answered[0].said)
    parts = {tenths: rating / form.high} if tenths else {}
    return Verdict(item.item_id, form.share(rating), parts=parts)
