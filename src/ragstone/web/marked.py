"""Gold answers found within a text."""

from __future__ import annotations

import re
from collections.abc import Sequence


def gold_parts(text: str, wanted: Sequence[str]) -> list[str]:
    """Return a text in parts; every second one is a wanted text that occurs as whole words.

    >>> gold_parts("In Winter or in winters.", ["in winter", ""])
    ['', 'In Winter', ' or in winters.']
    """
    texts = sorted({one.strip() for one in wanted if one.strip()}, key=len, reverse=True)
    if not texts:
        return [text]
    any_of = "|".join(map(re.escape, texts))
    # With one group, every second part is a match.
    return re.split(rf"(?<!\w)({any_of})(?!\w)", text, flags=re.IGNORECASE)
