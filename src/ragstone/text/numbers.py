"""Numbers of a folded text in one spelling, and the signs that belong to numbers and names.

A sign that is part of a number or a name is *held*: a character of a private area replaces it, so
that the later steps, which delete signs, treat it as a letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from string import ascii_letters
from typing import TYPE_CHECKING, Final

from ragstone.text.language_names import base_code

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PRIVATE: Final = 0xF0000
"""Start of the private area that represents the signs of the basic multilingual plane."""
_PLANE: Final = 0x10000
_HELD: Final = re.compile("[\U000f0000-\U000fffff]")

CURRENCIES: Final = "$¢£¤¥֏؋৲৳৻૱௹฿៛\u20a0-\u20c0"
"""Currency signs, as ranges of a character class."""
DECIMAL_MARK, THOUSANDS_MARK = "\u066b", "\u066c"
"""The marks of Arabic script, which have one meaning each."""
KEPT: Final = re.compile(f"[{CURRENCIES}°‰♭{DECIMAL_MARK}{THOUSANDS_MARK}]")
"""Signs outside ASCII that numbers and names may contain."""
_OTHERS: Final = "\u2010\u2011\u2012\u2013\u2212\u066a\u2044\u00f7\u2215\u00d7♯\u2019"
RESPELLED: Final = dict(zip(_OTHERS, "-----%///*#'", strict=True))
"""Signs outside ASCII -> the ASCII signs of the same meaning."""

NUMERIC: Final = re.compile("[0-9+#♭]")
"""A text without one of these characters contains nothing that `numbers` would change."""

_COMMA: Final = frozenset(
    re.findall(
        r"\w+",
        "az be bg bs ca cs da de el es et eu fi fr gl hr hu hy id is it ka kk lt lv mk nl no "
        "nb nn pl pt ro ru sk sl sq sr sv tr uk uz vi",
    )
)
"""Languages with a decimal comma; their thousands mark is a full stop or a space."""
_SPACED: Final = frozenset(
    re.findall(r"\w+", "be bg cs et fi fr hu kk lt lv nb nn no pl pt ru sk sl sv uk es")
)
"""Languages that also write thousands with an ordinary space."""
_POINT_REGIONS: Final = frozenset({"de-ch", "it-ch", "de-li", "es-mx", "es-us", "es-pr"})

_NARROW_SPACES: Final = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:[\u00a0\u2007\u2009\u202f]\d{3})+)(?![\d])"
)
_PLAIN_SPACES: Final = re.compile(r"(?<![\w.,])(\d{1,3}(?: \d{3})+)(?!\d)")
_FRACTION_SIGN: Final = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_RAISED: Final = re.compile(r"(?<=\d)(?=[\u00b2\u00b3\u00b9\u2070\u2074-\u207b])")
_APART: Final = re.compile(
    "[\u00a0\u2007\u2009\u202f\u00bc-\u00be\u2150-\u215e\u00b2\u00b3\u00b9\u2070\u2074-\u207b]"
)
"""A text without one of these characters contains nothing that `set_apart` would change."""

_PERCENT: Final = (
    r"%|(?:per\ ?cent|pct|prozent|pour\ ?cent|por\ cien(?:to)?|por\ cento|per\ cento|procent|"
    r"процент\w{0,2}|τοις\ εκατό|प्रतिशत)\b"
)
_MONEY: Final = rf"[{CURRENCIES}](?!\ ?\d)|(?:us\ )?dollars?\b|euros?\b"
_SCALE: Final = (
    r"hundred|thousand|million|billion|trillion|mn|bn|millions?|milliards?|millionen|milliarden?|"
    r"mio|mrd|millones|milioni|miliardi|milhões"
)
_UNIT: Final = (
    r"(?:[kcmnμ]?m[23]?|k?g|mg|lbs?|oz|ft|mi|mph|km/h|kph|[kmg]?hz|[kmgt]b|[kmg]w|kwh|c?l|ml|"
    r"mn|bn|mio|mrd|hrs?|mins?|secs?|ms|px|cal|kcal)\b"
)
_NUMBER: Final = re.compile(
    rf"""
    (?P<minus>(?<![\w)\]%-])-)?
    (?:(?P<before>[{CURRENCIES}]|(?<!\d)%)\ ?)?
    (?:
        (?<![/\d.,])(?:(?P<whole>\d+)\ )?(?P<over>\d)/(?P<under>[2-9]|10)(?![\d/.,]\d|\d|/)
      | (?P<point>(?<![\w.])\.)?
        (?P<digits>\d+(?:[.,'{DECIMAL_MARK}{THOUSANDS_MARK}]\d+)*)(?P<power>\^-?\d+)?
    )
    (?:
        \ ?(?P<percent>{_PERCENT})
      | \ ?(?P<other>‰|°(?:\ ?[cf]\b)?)
      | (?:\ ?(?P<scale>{_SCALE}))?\ ?(?P<money>{_MONEY})
    )?
    (?: (?P<border>[-/:*+=](?=\d)) | (?P<unit>(?={_UNIT})) )?
    """,
    re.VERBOSE,
)
_PLAIN_BEFORE: Final = rf"""
    (?<=[%{CURRENCIES}][0-9]) | (?<=[%{CURRENCIES}]\ [0-9])
  | (?<![\w)\]%-]-[0-9])(?<=-[0-9]) | (?<![\w.]\.[0-9])(?<=\.[0-9])
"""
_PLAIN_AFTER: Final = rf"""
    [.,'{DECIMAL_MARK}{THOUSANDS_MARK}]\d | \^ | \ \d/ | \ ?(?:{_PERCENT}) | \ ?[‰°]
  | (?:\ ?(?:{_SCALE}))?\ ?(?:{_MONEY}) | [-/:*+=]\d | {_UNIT}
"""
_NOT_PLAIN: Final = re.compile(
    rf"""
    [0-9](?<![0-9][0-9])
    (?: (?<=[-%.\ {CURRENCIES}][0-9])(?:{_PLAIN_BEFORE})
      | \d*+(?=[-.,'^\ %‰°/:*+={DECIMAL_MARK}{THOUSANDS_MARK}{CURRENCIES}]|[^\W\d_])
        (?:{_PLAIN_AFTER})
    )
    """,
    re.VERBOSE,
)
"""The first digit of a number that may be written in another way; other digits stay as they are."""
_LONG: Final = 4096
"""Characters from which a pass over arrays is faster than a search."""
_BLANK: Final = 32
_WORDS: Final = "phtmbude"
"""The first letters of the ASCII words of `_PERCENT`, `_SCALE` and `_MONEY`."""
_SIGNS_BEFORE: Final = 4
_SIGN_BEFORE: Final = re.compile(f"[-%. {CURRENCIES}]")
_US_DOLLARS: Final = re.compile(r"\bus\$")
_NAME_SIGNS: Final = "+#♭"
_NAME: Final = re.compile(r"[+#♭](?:(?<=[^\W\d_]\+)\+|(?<=[^\W_][+#♭])(?!\w))")
_DATE: Final = re.compile(r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)|\d{4}\.\d{1,2}\.\d{1,2}")
_BY_THREES: Final = re.compile(r"[1-9]\d{0,2}(?:\D\d{3})+")
_BY_TWOS: Final = re.compile(r"[1-9]\d?(?:,\d\d)+,\d{3}")
_MARKS: Final = re.compile(rf"[.,'{DECIMAL_MARK}{THOUSANDS_MARK}]")


@lru_cache(maxsize=1024)
def hold(signs: str) -> str:
    """Return a text with each character replaced by the one that represents it as a letter."""
    return "".join(chr(_PRIVATE + ord(c)) if ord(c) < _PLANE else c for c in signs)


def restored(text: str) -> str:
    """Return a text with the held signs themselves."""
    return text if text.isascii() else _HELD.sub(lambda m: chr(ord(m[0]) - _PRIVATE), text)


def set_apart(text: str) -> str:
    """Return a text whose fractions and powers survive compatibility normalisation.

    Narrow and no-break spaces between groups of three digits are removed.

    >>> set_apart("1½ m, 10²")
    '1 ½ m, 10^²'
    """
    if not _APART.search(text):
        return text
    joined = _NARROW_SPACES.sub(lambda m: re.sub(r"\s", "", m[0]), text)
    return _RAISED.sub("^", _FRACTION_SIGN.sub(" ", joined))


def numbers(text: str, language: str = "", digits: Iterable[int] | None = None) -> str:
    """Return a folded text with its numbers in one spelling and their signs held.

    Args:
        text: text in lower case with ASCII digits.
        language: a code such as "de" decides whether 1.000 is a thousand; without one, it is 1.
        digits: the places of first digits, in order, if those of all numbers that are written in
            another way are known to be among them.

    >>> restored(numbers("1,000.5 or 15 % of -5, in c++"))
    '1000.5 or  15 %  of -5, in c++'
    >>> restored(numbers("1.000,5 km und 1.000 €", "de"))
    '1000.5 km und  € 1000 '
    """
    if not NUMERIC.search(text):
        return text
    comma, spaced = _habits(language)
    given = text
    if spaced:
        text = _PLAIN_SPACES.sub(lambda m: m[0].replace(" ", ""), text)
    if "$" in text and "us$" in text:  # to search for one character is much faster
        text = _US_DOLLARS.sub("$", text)
    found, done = list[str](), 0
    for digit in digits if digits is not None and text == given else _first_digits(text):
        if digit < done or not _NOT_PLAIN.match(text, digit):
            continue
        first = _first_sign(text, digit, done)
        while not (number := _NUMBER.match(text, first)):
            first += 1
        found += (text[done:first], _written(number, comma=comma))
        done = number.end()
    return _with_names("".join((*found, text[done:])))


def _with_names(text: str) -> str:
    """Return a text with the signs of names held, such as those of C++."""
    # To search for one character is much faster than for any of three.
    signs = [sign for sign in _NAME_SIGNS if sign in text]
    places = sorted(found.start() for sign in signs for found in re.finditer(re.escape(sign), text))
    found, done = list[str](), 0
    for place in places:
        if place >= done and (name := _NAME.match(text, place)):
            found += (text[done:place], hold(name[0]))
            done = name.end()
    return "".join((*found, text[done:])) if found else text


def _first_digits(text: str) -> Iterator[int]:
    """Yield the places, in order, of the first digits that `_NOT_PLAIN` may match.

    In a long text of ASCII they are found by their neighbours, in one pass over all characters.
    """
    if len(text) < _LONG or not text.isascii():
        yield from _searched(text)
        return
    import numpy as np

    held = np.frombuffer(f"\0\0{text}\0\0".encode(), np.uint8)
    digits = _flags("0123456789")[held]
    edges = np.flatnonzero(digits[1:] != digits[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    before, behind = held[starts - 1], held[ends]
    next_to = _flags("%$-.")[before] | _flags(f"^%${ascii_letters}")[behind]
    next_to |= (before == _BLANK) & _flags("%$")[held[starts - 2]]
    next_to |= (behind == _BLANK) & _flags("0123456789%$" + _WORDS)[held[ends + 1]]
    next_to |= _flags(".,'-/:*+=")[behind] & digits[ends + 1]
    yield from (starts[next_to] - 2).tolist()


def _searched(text: str) -> Iterator[int]:
    place = 0
    while found := _NOT_PLAIN.search(text, place):
        yield found.start()
        place = found.start() + 1


@cache
def _flags(characters: str) -> NDArray[np.bool_]:
    """Return whether each byte is one of some ASCII characters."""
    import numpy as np

    return np.isin(np.arange(256), list(characters.encode()))


def _first_sign(text: str, digit: int, done: int) -> int:
    """Return where a number may start, whose first digit is at a place: at most 4 signs before."""
    first = digit
    while first > max(done, digit - _SIGNS_BEFORE) and _SIGN_BEFORE.match(text, first - 1):
        first -= 1
    return first


def _habits(language: str) -> tuple[bool, bool]:
    """Return whether a language has a decimal comma, and whether it groups digits by spaces."""
    code = language.lower().replace("_", "-")
    if not code or code in _POINT_REGIONS:
        return False, False
    base = base_code(code)
    return base in _COMMA, base in _SPACED


def _written(found: re.Match[str], *, comma: bool) -> str:
    """Return a number in its one spelling: currency, sign, digits, scale, percent."""
    if found[0].isdecimal() and found["unit"] is None:
        return found[0]
    if found["over"] and int(found["over"]) < int(found["under"]):
        value = _fraction(found)
    elif found["over"]:
        value = " ".join(filter(None, (found["whole"], found["over"], found["under"])))
    else:
        value = _read(found["digits"], comma=comma)
        value = f"0{hold('.')}{value}" if found["point"] else value
        if found["power"]:
            value += re.sub(r"\D", lambda sign: hold(sign[0]), found["power"])
    value = (hold("-") if found["minus"] else "") + value
    before, money = found["before"] or "", found["money"] or ""
    if before == "%" and found.string[found.end() : found.end() + 1].isalpha():
        return before + value  # an escaped character such as %22
    sign = _currency(money) or before[-1:].replace("%", "")
    percent = "%" if found["percent"] or before == "%" else ""
    behind = (found["other"] or "").replace(" ", "")
    behind = hold(behind[:1]) + behind[1:]
    if sign or percent or behind:
        parts = (hold(sign), value, found["scale"], hold(percent), behind)
        value = f" {' '.join(filter(None, parts))} "
    apart = found["border"] or (found["unit"] is not None and not _inside_word(found))
    return f"{value} " if apart else value


def _inside_word(found: re.Match[str]) -> bool:
    return found.start() > 0 and found.string[found.start() - 1].isalnum()


def _currency(written: str) -> str:
    if written.startswith("euro"):
        return "€"
    return "$" if written.startswith(("us ", "dollar")) else written


def _fraction(found: re.Match[str]) -> str:
    """Return 1/2 as 0.5 and 2 1/3 as 7/3."""
    value = int(found["whole"] or 0) + Fraction(int(found["over"]), int(found["under"]))
    part = value.denominator
    while part % 2 == 0:
        part //= 2
    if part in (1, 5):
        return str(float(value)).replace(".", hold("."))
    return f"{value.numerator}{hold('/')}{value.denominator}"


def _read(digits: str, *, comma: bool) -> str:
    """Return digits without thousands marks, with a held decimal point.

    Text that is not one number (a date, a list) keeps its marks as they are.
    """
    plain = digits.replace(THOUSANDS_MARK, "").replace(DECIMAL_MARK, "'")
    if DECIMAL_MARK in digits:
        return plain.replace("'", hold("."))
    marks = _MARKS.findall(plain)
    if not marks:
        return plain
    decimal = marks[-1] if marks.count(marks[-1]) == 1 and marks[-1] != "'" else ""
    if len(marks) == 1 and decimal and _groups(plain, decimal, comma=comma):
        decimal = ""
    whole, point, part = plain.rpartition(decimal) if decimal else (plain, "", "")
    if point and "." not in whole and "," not in whole and "'" not in whole:
        likely = point == "." or comma or len(part) < 3  # noqa: PLR2004 - 1,5 and 1,50
        return f"{whole}{hold('.')}{part}" if likely else plain
    one_mark = len({*_MARKS.findall(whole), *point}) == 1 + len(point)
    if one_mark and (_BY_THREES.fullmatch(whole) or _BY_TWOS.fullmatch(whole)):
        return _MARKS.sub("", whole) + (hold(".") + part if point else "")
    if set(marks) == {"."} and not _DATE.fullmatch(plain):
        return plain.replace(".", hold("."))  # a version
    return plain


def _groups(digits: str, mark: str, *, comma: bool) -> bool:
    """Return whether a single mark separates thousands: by its place and the language."""
    return _BY_THREES.fullmatch(digits) is not None and (mark == ".") == comma
