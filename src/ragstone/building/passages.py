"""The passages of a corpus that are usable for a test set, and the reasons against the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.data_quality.duplicates import squeezed
from ragstone.text.language import language_of
from ragstone.text.language_names import LANGUAGE_NAMES
from ragstone.text.normalise import pieces
from ragstone.text.scripts import UNSPACED

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus
    from ragstone.types import Passage

_CODE_SIGNS: Final = re.compile(r"[{}<>=;|\\_\[\]/#$%^~]")
_UNSPACED_CHARACTER: Final = re.compile(f"[{UNSPACED}]")
_NUMBER: Final = re.compile(r"\d[\d.,]*")
_MOST_CODE, _MOST_NUMBERS = 0.04, 0.35
_SHORT_LINE: Final = 4
_TABLE_LINES: Final = 5
_ANY: Final = "any"


@dataclass(frozen=True)
class Usable:
    """Usable passages, and the refused ones."""

    passages: list[Passage]
    refused: dict[str, str]
    """Passage id -> reason."""


def usable(corpus: Corpus, *, in_language: str) -> Usable:
    """Divide the passages of a corpus into usable and refused ones, each with the reason.

    `in_language` is the language of the prompts ("English"); "any" accepts every passage. The
    maximum length of a passage is Know Your RAG's.
    """
    kept: list[Passage] = []
    refused: dict[str, str] = {}
    seen: set[str] = set()
    for passage in corpus:
        text = squeezed(passage.text)
        reason = next(_reasons(passage, in_language), "")
        if reason or text in seen:
            refused[passage.passage_id] = reason or "its text is a duplicate"
        else:
            seen.add(text)
            kept.append(passage)
    return Usable(kept, refused)


def _reasons(passage: Passage, wanted: str) -> Iterator[str]:
    text, least, most = passage.text, limits.MIN_PASSAGE_WORDS, limits.MAX_PASSAGE_CHARACTERS
    if not text.strip():
        yield "it is empty"
    if len(pieces(text)) < least:
        yield f"it has fewer than {least} words"
    if len(text) > most:
        yield f"it has more than {most:,} characters"
    if is_table_or_code(text):
        yield "it is a table or code"
    code = language_of(text)
    found = LANGUAGE_NAMES.get(code, code)
    if wanted != _ANY and found not in ("", wanted):
        yield f"it is in {found}, the prompts are in {wanted}"


def is_table_or_code(text: str) -> bool:
    r"""Return whether a text consists of cells, numbers or code, not of sentences.

    >>> is_table_or_code("for (i = 0; i < n; i++) { total += x[i]; }")
    True
    >>> is_table_or_code("In 1850 the town had 3,200 people, and ten years later 4,100.")
    False
    >>> is_table_or_code("この町には1850年に3,200人、その十年後には4,100人が住んでいた。")
    False
    """
    # Bytes: a character of Chinese or Thai is as much text as two or three letters.
    if len(_CODE_SIGNS.findall(text)) > _MOST_CODE * len(text.encode()):
        return True
    # In scripts without spaces, each character counts as a word.
    count = pieces if _UNSPACED_CHARACTER.search(text) else str.split
    if len(_NUMBER.findall(text)) > _MOST_NUMBERS * max(len(count(text)), 1):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    short = sum(len(count(line)) <= _SHORT_LINE for line in lines)
    return len(lines) >= _TABLE_LINES and short > len(lines) / 2
