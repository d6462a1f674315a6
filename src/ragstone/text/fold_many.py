"""`ragstone.text.normalise.fold` for many texts at once, joined: equal, and several times as fast.

Only runs of characters outside ASCII are normalised, each with the character before it, which it
may compose with. Everything else is done for all texts in one pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import Final

from ragstone.core import limits
from ragstone.text.normalise import SIGN, UNSPACED_CHARACTER, fold, folded_character
from ragstone.text.numbers import KEPT, numbers, set_apart

END: Final = "\0"
"""Stands between two texts; one inside of a text becomes a blank."""
_CONTROLS: Final = bytes(range(1, 32)) + b"\x7f"
_LOWER: Final = bytes(range(256)).lower()
PLAIN: Final = _LOWER.translate(bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS)))
"""Byte -> lower case; control characters are blanks."""
_RUN: Final = re.compile("[\x20-\x7e]?[^\x00-\x7f]+")
_WORD_CHARACTER: Final = re.compile(r"[^\s!-/:-@\[-`{-~\x1b]")
"""What a text of signs alone does not have."""
_SHORT: Final = 8
"""Characters of a run that is likely to occur again."""


def fold_joined(texts: Sequence[str], language: str = "") -> str:
    r"""Return the folded texts of one language with `END` between them.

    A text of ASCII signs alone is left as it is.

    >>> fold_joined(["Ünited 1,000", "A B"])
    'ünited 1000\x00a b'
    """
    joined = END.join(texts)
    if joined.count(END) >= max(1, len(texts)):
        return fold_joined([text.replace(END, " ") for text in texts], language)
    if joined.isascii():
        return _ascii(joined, language)
    plain = list(map(str.isascii, texts))
    others = _others([text for text, one in zip(texts, plain, strict=True) if not one], language)
    if len(others) == len(texts):
        return END.join(others)
    found = _ascii(END.join(compress(texts, plain)), language).split(END)
    for place, text in zip((i for i, one in enumerate(plain) if not one), others, strict=True):
        found.insert(place, text)
    return END.join(found)


def _ascii(joined: str, language: str) -> str:
    if SIGN in joined:  # a sign of a text itself is not a blank
        return END.join(
            fold(text, language) if SIGN in text else _ascii(text, language)
            for text in joined.split(END)
        )
    return numbers(joined.encode().translate(PLAIN).decode(), language)


def _others(texts: Sequence[str], language: str) -> list[str]:
    """Return folded texts that have characters outside ASCII."""
    joined = set_apart(END.join(texts)).encode().translate(PLAIN).decode()
    folded = KEPT.sub(SIGN, numbers(_RUN.sub(_folded, joined), language)).split(END)
    return [
        done if _WORD_CHARACTER.search(done) else fold(text, language)
        for done, text in zip(folded, texts, strict=True)
    ]


def _folded(found: re.Match[str]) -> str:
    run = found[0]
    return _short_run(run) if len(run) <= _SHORT else folded_run(run)


def folded_run(run: str) -> str:
    """Return a run of characters in lower case, compatibility-normalised, numbers not respelled."""
    normal = unicodedata.normalize("NFKC", run).casefold()
    plain = "".join(map(folded_character, unicodedata.normalize("NFKC", normal)))
    return UNSPACED_CHARACTER.sub(r" \g<0> ", plain)


_short_run: Final = lru_cache(maxsize=limits.CACHED_CHARACTERS)(folded_run)
