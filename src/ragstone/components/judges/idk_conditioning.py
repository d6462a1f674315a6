"""Adjusting a score by whether the query can be answered and whether the answer declines.

Katsis et al., MTRAG, TACL 2025, section 6.3.3. In the tables, a number is the score, `keep` keeps
the metric's own value, and `leave out` makes the query not applicable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from ragstone.errors import ConfigError, did_you_mean

Variant = Literal["script", "released", "corrected"]
Cell = float | Literal["keep", "leave out"]

KEEP: Final = "keep"
OUT: Final = "leave out"

_ANSWERABLE: Final[dict[str, Cell]] = {"yes": 0.0, "partial": KEEP, "no": KEEP}
_UNANSWERABLE: Final[dict[str, Cell]] = {"yes": 1.0, "partial": 0.0, "no": 0.0}
_ALL: Final = {
    "ANSWERABLE": _ANSWERABLE,
    # Keeps its value if the answer declines the part that cannot be answered.
    "PARTIAL": _ANSWERABLE,
    "UNANSWERABLE": _UNANSWERABLE,
    "UNDERSPECIFIED": _UNANSWERABLE,
}

TABLES: Final[Mapping[str, Mapping[str, Mapping[str, Cell]]]] = {
    # The published script: an answer to a greeting should decline.
    "script": {**_ALL, "CONVERSATIONAL": _UNANSWERABLE},
    # The released scores: all conversational turns have 1.
    "released": {**_ALL, "CONVERSATIONAL": {"yes": 1.0, "partial": 1.0, "no": 1.0}},
    # The paper: conversational turns do not count.
    "corrected": {**_ALL, "CONVERSATIONAL": {"yes": OUT, "partial": OUT, "no": OUT}},
}
"""Variant -> answerability -> verdict of the idk judge -> score.

For UNDERSPECIFIED queries (MTRAG-UN), `yes` is the verdict that the answer asks for clarification.
"""


def cell(answerability: str, idk: str, variant: str = "corrected") -> Cell:
    """Return the adjusted score, or whether to keep or leave out the value.

    >>> cell("PARTIAL", "partial"), cell("UNANSWERABLE", "yes"), cell("CONVERSATIONAL", "no")
    ('keep', 1.0, 'leave out')

    Raises:
        ConfigError: the variant, answerability or verdict is unknown.
    """
    if variant not in TABLES:
        raise ConfigError(f"conditioning {variant!r}{did_you_mean(variant, TABLES)}")
    table = TABLES[variant]
    label = answerability.upper()
    if label not in table:
        raise ConfigError(f"answerability {answerability!r}{did_you_mean(label, table)}")
    if idk not in table[label]:
        raise ConfigError(f"idk verdict {idk!r}{did_you_mean(idk, table[label])}")
    return table[label][idk]
