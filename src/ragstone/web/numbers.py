"""Numbers as the pages show them: three digits without a leading zero, halves rounded up."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

ABSENT: Final = "\N{EN DASH}"
MINUS: Final = "\N{MINUS SIGN}"
FILTERS: Final = (
    "share", "interval", "points", "signed", "signed_interval", "duration", "money", "count",
    "moment", "p_value", "tick", "signed_tick", "kappa", "kappa_interval",
    "decimal",
)  # fmt: skip
_SECONDS: Final = 100.0
_SMALL: Final = 0.001
_DIGITS: Final = 200
"""Queries from which a share in per cent has a digit after the point."""


def rounded(value: float, digits: int) -> str:
    """Return a number with a fixed number of digits after the point; halves are rounded up.

    >>> rounded(0.0625, 3), rounded(-0.0004, 3), rounded(2.5, 0)
    ('0.063', '0.000', '3')
    """
    found = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return str(abs(found) if found == 0 else found).replace("-", MINUS)


def share(value: float | None) -> str:
    """Return a share or a metric with three digits.

    >>> share(0.7041), share(1.0), share(0.0), share(12.5), share(None) == ABSENT
    ('.704', '1', '0', '12.500', True)
    """
    if value is None:
        return ABSENT
    found = rounded(value, 3)
    if found.endswith(".000"):
        return found[:-4]
    return found.replace("0.", ".", 1) if found.lstrip(MINUS).startswith("0.") else found


def interval(ends: Sequence[float] | None) -> str:
    """Return an interval in brackets; "" for None.

    >>> interval((0.313, 0.402))
    '[.313, .402]'
    """
    return "" if ends is None else f"[{share(ends[0])}, {share(ends[1])}]"


def decimal(value: float | None) -> str:
    """Return an estimated number: with a digit after the point below 10.

    >>> decimal(2.44), decimal(1203.4), decimal(None) == ABSENT
    ('2.4', '1,203', True)
    """
    if value is None:
        return ABSENT
    return rounded(value, 1) if value < 10 else f"{value:,.0f}"  # noqa: PLR2004 - two digits


def kappa(value: float | None) -> str:
    """Return a coefficient of agreement with two digits.

    >>> kappa(0.714), kappa(-0.02) == f"{MINUS}.02", kappa(1.0), kappa(None) == ABSENT
    ('.71', True, '1', True)
    """
    if value is None:
        return ABSENT
    found = rounded(value, 2)
    if found.endswith(".00"):
        return found[:-3]
    return found.replace("0.", ".", 1) if found.lstrip(MINUS).startswith("0.") else found


def kappa_interval(ends: Sequence[float] | None) -> str:
    """Return an interval of a coefficient of agreement; "" for None.

    >>> kappa_interval((0.62, 0.789))
    '[.62, .79]'
    """
    return "" if ends is None else f"[{kappa(ends[0])}, {kappa(ends[1])}]"


def signed(value: float | None) -> str:
    """Return a difference with its sign.

    >>> signed(0.0851), signed(-0.02) == f"{MINUS}.020", signed(0.0)
    ('+.085', True, '0')
    """
    found = share(value)
    return f"+{found}" if value is not None and found not in {"0", ABSENT} and value > 0 else found


def signed_interval(ends: Sequence[float] | None) -> str:
    """Return an interval of a difference, each end with its sign; "" for None."""
    return "" if ends is None else f"[{signed(ends[0])}, {signed(ends[1])}]"


def points(value: float | None, n: int = _DIGITS) -> str:
    """Return a share in per cent, with a digit after the point from 200 queries on.

    >>> points(0.1834), points(0.1834, 50)
    ('18.3', '18')
    """
    return ABSENT if value is None else rounded(100 * value, 1 if n >= _DIGITS else 0)


def tick(value: float) -> str:
    """Return the value of a tick of an axis, without zeros at the end.

    >>> tick(0.2), tick(0.25), tick(0.0), tick(20.0)
    ('.2', '.25', '0', '20')
    """
    found = rounded(value, 4)
    found = found.rstrip("0").rstrip(".") if "." in found else found
    return found.replace("0.", ".", 1) if found.lstrip(MINUS).startswith("0.") else found


def signed_tick(value: float) -> str:
    """Return the value of a tick of an axis of differences, with its sign."""
    return f"+{tick(value)}" if value > 0 else tick(value)


def shown(kind: str, value: Any) -> str:
    """Return a value by the name of one of `FILTERS`; a text stays as it is."""
    if kind not in FILTERS:
        return ABSENT if value is None else str(value)
    text: str = globals()[kind](value)
    return text


def p_value(value: float | None) -> str:
    """Return the p-value of a test.

    >>> p_value(0.0004), p_value(0.0421)
    ('< .001', '= .042')
    """
    if value is None:
        return ABSENT
    return "< .001" if value < _SMALL else f"= {share(value)}"


def duration(value: float | None) -> str:
    """Return a time in seconds with its unit.

    >>> duration(0.3412), duration(12.0), duration(340.2)
    ('0.34 s', '12.00 s', '340 s')
    """
    if value is None:
        return ABSENT
    return f"{rounded(value, 2)} s" if value < _SECONDS else f"{value:,.0f} s"


def money(value: float | None) -> str:
    """Return an amount in dollars.

    >>> money(0.92), money(0.00312), money(0.0)
    ('$0.92', '$0.0031', '$0')
    """
    if value is None:
        return ABSENT
    if value == 0:
        return "$0"
    return f"${value:,.2f}" if value >= 0.1 else f"${value:.2g}"  # noqa: PLR2004 - ten cents


def count(value: int | None) -> str:
    """Return a count with commas between thousands."""
    return ABSENT if value is None else f"{value:,}"


def moment(text: str | None) -> str:
    """Return a time of a record for people.

    >>> moment("2026-03-02T10:04:31+00:00")
    '2 March 2026, 10:04'
    """
    if not text:
        return ABSENT
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{found.day} {found:%B %Y, %H:%M}"
