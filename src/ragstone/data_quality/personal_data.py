"""Personal data in texts: addresses and numbers of e-mail, telephone, cards and identity.

Numbers with a check digit are personal data only if it is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Identifier:
    """One kind of personal data: its pattern, and a check of the matches."""

    pattern: re.Pattern[str]
    is_valid: Callable[[str], bool] = bool


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdecimal()]


def passes_luhn(text: str) -> bool:
    """Return whether the digits of a text have a right check digit by Luhn (ISO/IEC 7812-1).

    >>> passes_luhn("4111 1111 1111 1111"), passes_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = _digits(text)[::-1]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    """Check by ISO 7064, modulo 97."""
    plain = "".join(text.split()).upper()
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _is_resident_id(text: str) -> bool:
    """Check China's number of 18 characters by ISO 7064, modulo 11-2 (GB 11643)."""
    weighted = sum(pow(2, 17 - place, 11) * int(text[place]) for place in range(17))
    return "10X98765432"[weighted % 11] == text[17].upper()


_ODD_DIGITS: Final = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21)
_ODD_LETTERS: Final = (2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_ODD: Final = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (*_ODD_DIGITS, *_ODD_DIGITS, *_ODD_LETTERS),
        strict=True,
    )
)
"""Values of the characters at odd places of a codice fiscale."""


def _is_codice_fiscale(text: str) -> bool:
    """Check Italy's tax code by its last letter (decree of 23 December 1976)."""
    code = text.upper()
    even = sum(int(c) if c.isdigit() else ord(c) - ord("A") for c in code[1:15:2])
    return chr(ord("A") + (even + sum(_ODD[c] for c in code[:15:2])) % 26) == code[15]


def _is_my_number(text: str) -> bool:
    """Check Japan's number of 12 digits by its last one."""
    if len({text[:4], text[5:9], text[10:]}) == 1:
        return False
    digits = _digits(text)
    weights = [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]
    rest = sum(w * d for w, d in zip(weights, digits[:11], strict=True)) % 11
    return digits[11] == (0 if rest <= 1 else 11 - rest)


def _is_dni(text: str) -> bool:
    """Check Spain's number by its letter."""
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(text[:8]) % 23] == text[-1].upper()


def _never_zero(text: str) -> bool:
    area, group, serial = text.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _compiled(pattern: str, is_valid: Callable[[str], bool] = bool) -> Identifier:
    return Identifier(re.compile(rf"(?<![\w.+-])(?:{pattern})(?![\w-]|\.\d)"), is_valid)


_DIGITS_BEFORE_AND_AFTER: Final = r"(?<![A-Za-z0-9.,+_/=-]){}(?![A-Za-z0-9_-]|[.,]\d)"
"""Borders of a number in a script without spaces."""


def _number(pattern: str, is_valid: Callable[[str], bool] = bool) -> Identifier:
    return Identifier(re.compile(_DIGITS_BEFORE_AND_AFTER.format(f"(?:{pattern})")), is_valid)


def _is_dialled(text: str) -> bool:
    """Check the number of digits of an international telephone number (E.164)."""
    return _LEAST_DIALLED <= len(_digits(text)) <= _MOST_DIALLED


_LEAST_DIALLED, _MOST_DIALLED = 9, 15
_ADDRESS: Final = re.compile(
    r"[A-Za-z0-9][\w.+-]{0,200}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}", re.ASCII
)
_CARD: Final = r"(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|35\d\d|60\d\d|6[245]\d\d)(?:[ -]?\d{4}){3}"
_BORN: Final = r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"

IDENTIFIERS: Final[Mapping[str, tuple[Identifier, ...]]] = {
    "email": (Identifier(_ADDRESS),),
    "card": (
        _number(_CARD + r"(?:[ -]?\d{3})?", passes_luhn),
        _number(r"3[47]\d\d[ -]?\d{6}[ -]?\d{5}", passes_luhn),  # American Express
    ),
    "identity": (
        _number(r"\d{3}-\d{2}-\d{4}", _never_zero),  # Social Security, United States
        _number(rf"[1-9]\d{{5}}{_BORN}\d{{3}}[\dXx]", _is_resident_id),
        _number(r"784-?(?:19|20)\d\d-?\d{7}-?\d", passes_luhn),  # United Arab Emirates
        _number(r"(?<!\d[ -])\d{4}[ -]\d{4}[ -]\d{4}(?![ -]\d)", _is_my_number),
        _compiled(r"[A-Za-z]{6}\d\d[A-Za-z]\d\d[A-Za-z]\d{3}[A-Za-z]", _is_codice_fiscale),
        _compiled(r"\d{8}-?[A-Za-z]", _is_dni),
        _compiled(r"[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", _is_iban),
    ),
    "phone": (
        _number(
            r"(?:\+|\b00)(?![0\u0660])\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}"
            r"(?:[ .-]?\d{2,4}){2,4}",
            _is_dialled,
        ),
        _number(r"(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[.-])\d{3}[ .-]\d{4}"),  # North America
        _number(r"1[3-9]\d[ -]?\d{4}[ -]?\d{4}|0\d{2,3}-\d{7,8}"),  # China
        _number(r"05\d[ -]?\d{3}[ -]?\d{4}|01[0125][ -]?\d{4}[ -]?\d{4}"),  # Gulf, Egypt
        _number(r"0[1-9]\d{0,2}-\d{2,4}-\d{4}"),  # Japan
        _number(r"3[1-9]\d[ .-]\d{3}[ .-]?\d{4}|0\d{1,3}[ /]\d{6,8}"),  # Italy
    ),
}
"""Kind of personal data -> its forms. Cards and identity numbers come before telephone numbers."""


_NUMBER: Final = re.compile(r"\d[\d ()./-]{6,}")
_LIKELY: Final = {
    "email": re.compile("@"),
    "card": _NUMBER,
    "identity": re.compile(r"\d[\d -]{6,}|[A-Z]{2}\d\d|[A-Za-z]{6}\d\d[A-Za-z]"),
    "phone": _NUMBER,
}
"""Kind -> a pattern that all its forms match: a quick search that most texts do not pass."""


def masked(text: str, kind: str) -> str:
    """Return a text with the personal data of a kind replaced by its name in square brackets.

    Args:
        text: the text.
        kind: `email`, `card`, `identity` or `phone`.

    >>> masked("Write to ann@example.org.", "email"), masked("Call (212) 555-0123.", "phone")
    ('Write to [email].', 'Call [phone].')
    """
    if not _LIKELY[kind].search(text):
        return text
    for identifier in IDENTIFIERS[kind]:
        text = identifier.pattern.sub(
            lambda found: f"[{kind}]" if identifier.is_valid(found.group()) else found.group(),  # noqa: B023
            text,
        )
    return text


def all_masked(value: Any) -> Any:
    """Return a text, or the texts in lists and mappings, without personal data of any kind.

    >>> all_masked({"contexts": ["ann@example.org", 7]})
    {'contexts': ['[email]', 7]}
    """
    if isinstance(value, str):
        for kind in IDENTIFIERS:
            value = masked(value, kind)
        return value
    if isinstance(value, list):
        return [all_masked(item) for item in value]
    if isinstance(value, dict):
        return {key: all_masked(item) for key, item in value.items()}
    return value
