"""Characters that a reader does not see or notice, and that a search does not match."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_JOINED: Final = (
    "\u0600-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\ufb50-\ufdff\ufe70-\ufefc\u200d\ufe0f\U0001f000-\U0001ffff\u2600-\u27bf"
)
"""Scripts and emoji whose letters a joiner or a zero-width space joins or parts on purpose."""
_INVISIBLE: Final = re.compile(
    rf"[\u00ad\u2060-\u2064\ufeff]|(?<![{_JOINED}])[\u200b-\u200d]+(?![{_JOINED}])"
)
_DIRECTIONS: Final = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT: Final = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

_CYRILLIC: Final = "аеорсухіѕјԁԛԝАВЕКМНОРСТУХІЅЈ"  # noqa: RUF001 - they look alike
_GREEK: Final = "οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"  # noqa: RUF001 - they look alike
_PAIRS: Final = [
    *zip(_CYRILLIC, "aeopcyxisjdqwABEKMHOPCTYXISJ", strict=True),
    *zip(_GREEK, "oABEZHIKMNOPTYX", strict=True),
]
"""Cyrillic or Greek letter, and the Latin letter that looks the same."""
_TO_LATIN: Final = {ord(other): latin for other, latin in _PAIRS}
_FROM_LATIN: Final = {
    script: {ord(latin): other for other, latin in _PAIRS if script.match(other)}
    for script in (re.compile("[\u0400-\u052f]"), re.compile("[\u0370-\u03ff]"))
}
_MIXED: Final = re.compile(
    r"\b(?=\w*[a-zA-Z])(?=\w*[\u0370-\u052f])[a-zA-Z\u00c0-\u024f\u0370-\u052f]{3,}\b"
)
_LATIN: Final = re.compile("[a-zA-Z\u00c0-\u024f]")
_FORMS: Final = re.compile("[\u2e80-\u2fdf\ufb50-\ufbb1\ufe70-\ufefc]")
"""Radicals for Chinese characters, and positional forms of Arabic letters: from PDF files."""


def without_controls(text: str) -> str:
    r"""Return a text without control characters.

    >>> without_controls("a bell\x07 rings")
    'a bell rings'
    """
    return CONTROLS.sub("", text)


def without_invisible(text: str) -> str:
    r"""Return a text without invisible characters that its script does not need.

    Zero-width spaces, joiners and soft hyphens are removed, marks of direction only from a text
    without a letter that is written from right to left.

    >>> without_invisible("re\u200btrieval")
    'retrieval'
    """
    if text.isascii():
        return text
    plain = _INVISIBLE.sub("", text)
    return plain if _RIGHT_TO_LEFT.search(plain) else _DIRECTIONS.sub("", plain)


def without_look_alikes(text: str) -> str:
    r"""Return a text whose words are in one script.

    A letter that looks like one of the word's main script is replaced by it, and so are radicals
    for Chinese characters and positional forms of Arabic letters.

    >>> without_look_alikes("the M\u043escow river")
    'the Moscow river'
    """
    if text.isascii():
        return text
    text = _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    return _MIXED.sub(lambda found: _in_one_script(found.group()), text)


def _in_one_script(word: str) -> str:
    """Return a word in its main script if every other letter looks like one of it."""
    latin = len(_LATIN.findall(word))
    if 2 * latin >= len(word):
        changed = word.translate(_TO_LATIN)
        return changed if all(map(_LATIN.match, changed)) else word
    for script, table in _FROM_LATIN.items():
        changed = word.translate(table)
        if all(map(script.match, changed)):
            return changed
    return word
