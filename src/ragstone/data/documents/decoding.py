"""Bytes of unknown encoding as text."""

from __future__ import annotations

import codecs
from typing import Final

from ragstone.data.documents.pieces import UnreadableFile

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE: Final = 65_536
"""Bytes of a file by which its encoding is guessed; a guess over 24 MB takes 18 seconds."""
_WIDER: Final = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin-1": "cp1252"}
"""Encodings that files name, and the larger ones that they are written in."""
_USUAL: Final = ("cp1252", "latin_1")
"""Encodings that are preferred among those in which the sample is the same text, or as likely."""
_AS_LIKELY: Final = 0.05
"""Share of unusual characters by which a preferred encoding may be worse than the first guess."""


def decode(content: bytes, declared: str = "") -> tuple[str, str]:
    r"""Return the text of some bytes, and their encoding if it was guessed, else "".

    A byte order mark decides; otherwise the encoding is UTF-8, the declared one, or a guess.

    Args:
        content: the bytes.
        declared: the encoding that the file names.

    Raises:
        UnreadableFile: the bytes are not text, or are in two encodings.

    >>> decode(b"caf\xc3\xa9"), decode(b"caf\xe9", "iso-8859-1")
    (('café', ''), ('café', ''))
    """
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    for name in filter(None, (marked, "utf-8", _WIDER.get(declared.lower(), declared))):
        try:
            return _text(content.decode(name)), ""
        except (UnicodeDecodeError, LookupError) as error:
            if marked:
                raise UnreadableFile(f"it begins as {marked} and is not ({error})") from error
    _refuse_mixed(content)
    guess = _guess(content)
    try:
        return _text(content.decode(guess)), guess
    except (UnicodeDecodeError, LookupError) as error:
        raise UnreadableFile(f"its encoding is not known: not UTF-8, and not {guess}") from error


def _text(text: str) -> str:
    if "\0" in text:
        raise UnreadableFile("it is not text: it contains null bytes")
    return text


def _refuse_mixed(content: bytes) -> None:
    """Raise `UnreadableFile` if most lines beyond ASCII are UTF-8, and others are not."""
    others, fitting = list[int](), 0
    for number, line in enumerate(content.splitlines(), start=1):
        if line.isascii():
            continue
        try:
            line.decode()
            fitting += 1
        except UnicodeDecodeError:
            others.append(number)
    if fitting >= len(others):
        raise UnreadableFile(
            f"its encoding is mixed: line {others[0]} is not UTF-8, and {fitting:,} lines are; "
            "save it as UTF-8"
        )


def _guess(content: bytes) -> str:
    from charset_normalizer import from_bytes

    matches = from_bytes(content[:_SAMPLE])
    found = matches.best()
    if found is None:
        raise UnreadableFile("its encoding is not known: it is not text, or not UTF-8")
    likely = {
        match.encoding
        for match in matches
        if match.chaos <= found.chaos + _AS_LIKELY and match.coherence >= found.coherence > 0
    }
    likely.update(found.could_be_from_charset)
    usual = next((name for name in _USUAL if name in likely), found.encoding)
    return _WIDER.get(usual, usual)
