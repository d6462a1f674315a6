"""Text for terminals in every script: width in columns, cuts, padding, controls and direction.

A column is the width of a Latin letter: Chinese characters and emoji have two, and combining marks
none. A grapheme cluster is what a reader takes for one character, such as a letter with its marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from ragstone.core import limits

_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls except tabs and line breaks, marks that turn other text, and lone surrogates."""
_OURS: Final = re.compile(
    "^(\x1b\\[1m)([^\x1b\n]*)(\x1b\\[0m)|(\u2068)([^\u2068\u2069\n]*)(\u2069)", re.MULTILINE
)
"""What outputs of ours contain: bold heads at the beginning of a line, and isolated cells."""
_ISOLATE, _POP = "\u2068", "\u2069"
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})
_CUT: Final = "..."
_GAP: Final = " ... "
_SPACES: Final = re.compile(r"(\s+)")


def plain(text: str) -> str:
    r"""Return a text whose controls and direction marks are codes, except breaks and tabs.

    >>> plain("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _CONTROLS.sub(_code, text)


def cause_of(error: BaseException) -> str:
    r"""Return the text of an error in one line, cut to `limits.MAX_CAUSE_CHARACTERS`.

    >>> cause_of(ValueError("no such\n  key"))
    'no such key'
    """
    return " ".join(str(error).split())[: limits.MAX_CAUSE_CHARACTERS]


def one_line(text: str) -> str:
    r"""Return a text as `plain` whose line breaks are codes too: it does not end a comment.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return plain(text).replace("\n", "\\n")


def safe(text: str) -> str:
    r"""Return a whole output as `plain`, but with bold heads and isolated cells.

    A style that a text of the data begins and does not end is not a head.

    >>> safe("\x1b[1mhead\x1b[0m a\x1b[2Jb \x1b[1mc")
    '\x1b[1mhead\x1b[0m a\\x1b[2Jb \\x1b[1mc'
    """
    shown, end = [], 0
    for ours in _OURS.finditer(text):
        begin, inner, stop = (part for part in ours.groups() if part is not None)
        shown += [plain(text[end : ours.start()]), begin, plain(inner), stop]
        end = ours.end()
    return "".join([*shown, plain(text[end:])])


def _code(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\u{number:04x}" if number > 0xFF else f"\\x{number:02x}"  # noqa: PLR2004 - one byte


def message(text: str) -> str:
    """Return an error or a note as `safe`, with at most 1,000 characters.

    A longer one is shortened at its long words, which are values, and then in the middle: the file
    and the place are at its beginning, the way out at its end.

    >>> message("a.yaml: found " + "x" * 5000 + "; write less")[-20:]
    'xxxxxx... write less'
    """
    maximum = limits.MAX_MESSAGE_CHARACTERS
    if len(text) > maximum:
        # The ends are cut before controls become codes: a value may have millions of them.
        words = map(_cut_word, _SPACES.split(_ends(text, 20 * maximum)))
        text = _ends("".join(words), maximum)
    return _ends(safe(text), maximum)


def _cut_word(word: str) -> str:
    maximum = limits.MAX_WORD_CHARACTERS
    return word if len(word) <= maximum or word.isspace() else f"{word[: maximum - 3]}{_CUT}"


def _ends(text: str, maximum: int) -> str:
    """Return the beginning and the end of a longer text."""
    last = (maximum - len(_GAP)) // 3
    first = maximum - len(_GAP) - last
    return text if len(text) <= maximum else f"{text[:first]}{_GAP}{text[-last:]}"


def columns(text: str) -> int:
    """Return the number of columns of a text of one line.

    >>> columns("abc"), columns("日本語"), columns("กำ"), columns("👩‍🔬")
    (3, 6, 2, 2)
    """
    if text.isascii() and text.isprintable():
        return len(text)
    from wcwidth import wcswidth

    return max(wcswidth(plain(text).replace("\t", " ").replace("\n", " ")), 0)


def head(text: str, width: int) -> str:
    """Return the longest beginning that fits into some columns and ends with a whole cluster.

    >>> head("日本語", 5), head("naïve", 3)
    ('日本', 'naï')
    """
    if text.isascii() and text.isprintable():
        return text[:width]
    kept, used = [], 0
    for cluster in clusters(text):
        used += columns(cluster)
        if used > width:
            break
        kept.append(cluster)
    return "".join(kept)


def clusters(text: str) -> Iterator[str]:
    """Return the grapheme clusters of a text.

    >>> list(clusters("กำ👩‍🔬"))
    ['กำ', '👩‍🔬']
    """
    from wcwidth import iter_graphemes

    return iter(iter_graphemes(text))


def shorten(text: str, width: int) -> str:
    """Return a text on one line, cut if it has more columns than `width`; its indentation stays.

    >>> shorten("one two three", 9), shorten("日本語の文", 9)
    ('one tw...', '日本語...')
    """
    whole = text[: len(text) - len(text.lstrip())] + " ".join(text.split())
    return whole if columns(whole) <= width else f"{head(whole, width - len(_CUT))}{_CUT}"


def padded(text: str, width: int) -> str:
    """Return a text with spaces after it, up to some columns.

    >>> padded("日本", 6)
    '日本  '
    """
    return text + " " * (width - columns(text))


def wrapped(text: str, width: int, indent: str = "") -> str:
    r"""Return a text in lines of at most some columns; its own line breaks stay.

    >>> wrapped("日本語の長い文", 8, "  ").splitlines()
    ['  日本語', '  の長い', '  文']
    """
    from wcwidth import wrap

    return "\n".join(
        "\n".join(wrap(line, width, initial_indent=indent, subsequent_indent=indent)) or indent
        for line in plain(text).replace("\t", " ").split("\n")
    )


def isolated(text: str) -> str:
    r"""Return each line with right-to-left letters in an isolate, so that columns stay in place.

    >>> isolated("Cairo"), isolated("שלם") == "\u2068שלם\u2069"
    ('Cairo', True)
    """
    if text.isascii():
        return text
    return "\n".join(
        f"{_ISOLATE}{line}{_POP}" if is_right_to_left(line) else line for line in text.split("\n")
    )


def is_right_to_left(text: str) -> bool:
    """Return whether a text has a letter that is written from right to left."""
    return any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in text)
