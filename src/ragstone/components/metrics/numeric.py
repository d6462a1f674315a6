"""numeric: whether the answer contains the gold answer's number, date or quantity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.errors import ConfigError
from ragstone.text.dates import dates, without_dates
from ragstone.text.normalise import pieces

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values

_VALUE: Final = re.compile(r"-?\d+(?:\.\d+)?(?:\^-?\d+)?|-?\d+/\d+")
_SCALES: Final = {
    name: scale
    for names, scale in {
        "hundred hundert cent": 1e2,
        "thousand k tausend mille mil тысяч тысячи हज़ार": 1e3,
        "lakh लाख": 1e5,
        "万 萬 만": 1e4,
        "million millions mn mio millionen millones milioni milhões": 1e6,
        "миллион миллиона миллионов": 1e6,
        "crore करोड़": 1e7,
        "億 亿 억": 1e8,
        "billion billions bn milliarden mrd milliards miliardi миллиард миллиарда миллиардов": 1e9,
        "trillion trillions billionen": 1e12,
    }.items()
    for name in names.split()
}
"""Word after a number -> its factor."""
_UNITS: Final = {
    name: (kind, float(factor))
    for kind, listed in {
        "length": "mm=.001 cm=.01 m=1 km=1000 metre=1 metres=1 meter=1 meters=1 kilometre=1000 "
        "kilometres=1000 kilometer=1000 kilometers=1000 in=.0254 inch=.0254 inches=.0254 "
        "ft=.3048 foot=.3048 feet=.3048 yd=.9144 yard=.9144 yards=.9144 mi=1609.344 mile=1609.344 "
        "miles=1609.344",
        "mass": "mg=.000001 g=.001 kg=1 t=1000 gram=.001 grams=.001 kilogram=1 kilograms=1 "
        "tonne=1000 tonnes=1000 lb=.45359237 lbs=.45359237 oz=.028349523125",
        "time": "ms=.001 s=1 sec=1 secs=1 second=1 seconds=1 min=60 mins=60 minute=60 minutes=60 "
        "h=3600 hr=3600 hrs=3600 hour=3600 hours=3600 day=86400 days=86400 week=604800 "
        "weeks=604800",
        "volume": "ml=.001 cl=.01 l=1 litre=1 litres=1 liter=1 liters=1",
        "share": "%=.01 ‰=.001",
        "celsius": "°c=1",
        "fahrenheit": "°f=1",
    }.items()
    for name, _, factor in (pair.partition("=") for pair in listed.split())
}
"""Unit -> kind of quantity and factor to its base unit."""


class Quantity(NamedTuple):
    """A number with its unit."""

    value: float
    unit: str = ""
    """Kind of quantity, or a currency sign; empty if the number has no known unit."""


@dataclass(frozen=True)
class Numeric(AnswerMetric):
    """1 if the answer contains the gold answer's number or date, else 0.

    Numbers are read as in `ragstone.text.numbers`, with words of scale (million) and units: 1.5 km
    is 1500 m. A unit in both texts must be of the same kind; a number without a unit equals one
    with any unit. If the gold answer is a date, the answer must contain that date. The first number
    of the gold answer counts.

    Formula: 1 if a number of the answer is within the tolerance of the gold number, in its
    unit.

    Source: Ragstone's own rule (2026).

    Trap: an answer with many numbers matches more.

    Args:
        tolerance: relative difference that still counts as equal, of the gold value; dates must be
            equal.
    """

    tolerance: float = 0.0

    name: ClassVar[str] = "numeric"
    graded: ClassVar[bool] = False
    description: ClassVar[str] = (
        "1 if the answer contains the gold answer's number, in any spelling and unit of the same "
        "kind, or its date, else 0."
    )

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a negative tolerance."""
        if self.tolerance < 0:
            raise ConfigError(f"tolerance of numeric must be 0 or more, found {self.tolerance}")

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        columns = (pairs.answers, pairs.gold, pairs.languages)
        return np.array(list(map(self._one, *columns)), float)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the reasons for pairs whose gold answers contain no number."""
        columns = enumerate(zip(pairs.gold, pairs.languages, strict=True))
        return {
            i: "no gold answer contains a number or a date"
            for i, (gold, language) in columns
            if not any(dates(g, language) or quantities(g, language) for g in gold)
        }

    def _one(self, answer: str, gold: Sequence[str], language: str) -> bool:
        said, days = quantities(answer, language), dates(answer, language)
        for label in gold:
            wanted = dates(label, language)
            if wanted and wanted[0] in days:
                return True
            first = [] if wanted else quantities(label, language)[:1]
            if any(self._equal(found, one) for one in first for found in said):
                return True
        return False

    def _equal(self, found: Quantity, gold: Quantity) -> bool:
        if found.unit and gold.unit and found.unit != gold.unit:
            return False
        # Factors of units are products of decimal fractions: equal up to rounding.
        allowed = max(self.tolerance, 1e-9) * abs(gold.value)
        return abs(found.value - gold.value) <= allowed


def quantities(text: str, language: str = "") -> list[Quantity]:
    """Return the numbers of a text with their units, in order; dates are not numbers.

    >>> quantities("1.5 km or $2 million, 15 %")
    [Quantity(value=1500.0, unit='length'), Quantity(value=2000000.0, unit='$'), \
Quantity(value=0.15, unit='share')]
    """
    tokens = pieces(without_dates(text, language), language)
    found = []
    for i, token in enumerate(tokens):
        if not _VALUE.fullmatch(token):
            continue
        before, after = tokens[i - 1] if i else "", tokens[i + 1 : i + 3]
        value = _value(token)
        if after and after[0] in _SCALES:
            value *= _SCALES[after.pop(0)]
        kind, factor = _UNITS.get(after[0], ("", 1.0)) if after else ("", 1.0)
        money = before if before and not any(map(str.isalnum, before)) else ""
        found.append(Quantity(value * factor, kind or money))
    return found


def _value(token: str) -> float:
    if "/" in token:
        over, _, under = token.partition("/")
        return int(over) / max(int(under), 1)
    base, _, power = token.partition("^")
    try:
        return float(base) ** int(power or 1)
    except (OverflowError, ZeroDivisionError):
        return float("inf")
