"""Mojibake: text that was decoded with another encoding than it was written in, and its repair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from ftfy import TextFixerConfig, fix_encoding

from ragstone.core import limits

_ENCODING_ONLY: Final = TextFixerConfig(replace_lossy_sequences=False, explain=False)
_LATIN: Final = ("cp1252", "latin-1")
_READ_AS: Final = (*_LATIN, "gb18030", "cp932", "big5", "cp949", "cp1256")
"""Encodings that text is read in by mistake."""
_WRITTEN_IN: Final = ("cp949", "gb18030", "cp932", "euc_jp", "big5", "cp1256", "cp1251")
"""Encodings of text that is read as Latin: ftfy covers the Western ones and UTF-8."""
_STRETCH: Final = re.compile(r"[^\x00-\x7f](?:[\x00-\x7f]{0,2}[^\x00-\x7f])*")
"""Characters outside ASCII with at most two ASCII characters between them: trail bytes, blanks."""
_HIGH: Final = (
    "\u0080-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc"
    "\u2013-\u203a\u20ac\u2122"
)
_LATIN_STRETCH: Final = re.compile(rf"[{_HIGH}](?:[\x00-\x7f]{{0,2}}[{_HIGH}])*")
"""The same, of characters that are one byte in a Western encoding."""
_WORD: Final = re.compile("(?<!\\S)\\S*[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]{4}\\S*")
"""A word of an East Asian text: UTF-8 read in an East Asian encoding looks like one."""
_DENSE: Final = re.compile(r"[^\x00-\x7f]{4}")
_LEAST: Final = 4
"""Least repaired characters: a shorter stretch is a chance match, or a quotation."""
_COMMON: Final = 0.8
"""Least share of common characters in a repaired stretch."""
_RIGHT: Final = 0.95
"""Share of common characters beyond which a text is not looked at further."""
_LEVEL_ONE: Final = {"gb2312": (0xB0, 0xD7), "cp932": (0x88, 0x97), "big5": (0xA4, 0xC6)}
"""Encoding -> first bytes of its frequent Chinese characters."""
_BLANKS: Final = {"\xa0", "\u3000", "\ufffd"}
_KANA: Final = re.compile("[\u3040-\u30ff]")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
_LETTERS: Final = re.compile("[\u0430-\u045f\u0620-\u064a\u3040-\u30ff\uac00-\ud7a3]")
_NATURAL: Final = re.compile("[\u0370-\u052f\u0590-\u06ff\u0900-\u0eff\u2010-\u2026\uac00-\ud7a3]")
"""Letters of scripts that a wrong encoding mixes with signs, and quotes."""
_MARKS: Final = re.compile("[\u2010-\u2026\u060c\u061b\u061f\u3001-\u3011\uff01-\uff1f]")


def repaired(text: str) -> str:
    """Return a text with mojibake undone: characters decoded with the wrong encoding.

    ftfy repairs Western encodings and UTF-8 read as one of them. A stretch of East Asian, Arabic
    or Cyrillic text that was read in another encoding is repaired if no byte of it is lost and
    the result has common characters. Quotes, ligatures, character width, HTML entities and Unicode
    normalisation stay, and so does a sequence whose bytes are lost in part.

    >>> repaired("cafÃ©, naïve, Ã la carte, “ﬁne”")
    'café, naïve, à la carte, “ﬁne”'
    >>> repaired("中国的首都是北京".encode("gbk").decode("latin-1"))
    '中国的首都是北京'
    """
    if text.isascii():
        return text
    if _DENSE.search(text):
        # ftfy would change the bytes of other encodings, so it comes last.
        whole = _decoded(text)
        text = whole if whole != text else _in_parts(text)
    return fix_encoding(text, _ENCODING_ONLY)


def _in_parts(text: str) -> str:
    """Return a text of which a part, if it is mojibake, is repaired."""
    for part in (_LATIN_STRETCH, _STRETCH, _WORD):
        text = part.sub(lambda found: _decoded(found.group()), text)
    return text


def _decoded(text: str) -> str:
    """Return a text decoded with the encoding that it was written in, or unchanged."""
    foreign = {character for character in text if not character.isascii()} - _BLANKS
    natural = len(_NATURAL.findall("".join(foreign)))
    if len(foreign) < _LEAST or natural > _RIGHT * len(foreign) or _share(foreign) > _RIGHT:
        return text
    best, most = text, max(_COMMON, _share(text))
    for candidate in _candidates(text):
        changed = sum(not c.isascii() for c in candidate)
        if changed >= _LEAST and (share := _share(candidate)) > most:
            best, most = candidate, share
    return best


def _candidates(text: str) -> Iterator[str]:
    for read_as in _READ_AS:
        try:
            data = text.encode(read_as)
        except UnicodeEncodeError:
            continue
        for written_in in ("utf-8", *(_WRITTEN_IN if read_as in _LATIN else ())):
            try:
                yield data.decode(written_in)
            except UnicodeDecodeError:
                continue


def _share(text: Iterable[str]) -> float:
    """Return the share of common characters among those outside ASCII."""
    foreign = [c for c in text if not c.isascii() and not c.isspace()]
    # Beside kana, a character that Japanese does not use is wrong; beside Hangul, any Chinese one.
    known = tuple(_LEVEL_ONE)
    if any(map(_HANGUL.match, foreign)):
        known = ()
    elif any(map(_KANA.match, foreign)):
        known = ("cp932",)
    return sum(_is_common(c, known) for c in foreign) / max(len(foreign), 1)


@lru_cache(maxsize=limits.CACHED_CHARACTERS)
def _is_common(character: str, encodings: tuple[str, ...]) -> bool:
    if _LETTERS.match(character) or _MARKS.match(character):
        return True
    for encoding in encodings:
        first, last = _LEVEL_ONE[encoding]
        try:
            data = character.encode(encoding)
        except UnicodeEncodeError:
            continue
        if first <= data[0] <= last:
            return True
    return False
