"""The passages of a corpus that are usable for a test set, and the reasons against the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.data_quality.duplicates import squeezed
from ragstone.text.language import LANGUAGE_NAMES, language_of
from ragstone.text.normalise import pieces

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus
    from ragstone.types import Passage

_CODE_SIGNS: Final = re.compile(r"[{}<>=;|\\_\[\]/#$%^~]")
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

    @property
    def reasons(self) -> Counter[str]:
        """Reason -> number of refused passages."""
        return Counter(self.refused.values())


def usable(
    corpus: Corpus,
    *,
    in_language: str,
    least_words: int = limits.MIN_PASSAGE_WORDS,
    most_characters: int = limits.MAX_PASSAGE_CHARACTERS,
) -> Usable:
    """Divide the passages of a corpus into usable and refused ones.

    Args:
        corpus: the passages; each refused one has a reason.
        in_language: language of the prompts ("English"); "any" accepts every passage.
        least_words: minimum length of a passage, in words.
        most_characters: maximum length of a passage; the default is Know Your RAG's.
    """
    kept: list[Passage] = []
    refused: dict[str, str] = {}
    seen: set[str] = set()
    for passage in corpus:
        text = squeezed(passage.text)
        reason = next(_reasons(passage, in_language, least_words, most_characters), "")
        if reason or text in seen:
            refused[passage.passage_id] = reason or "its text is a duplicate"
        else:
            seen.add(text)
            kept.append(passage)
    return Usable(kept, refused)


def _reasons(passage: Passage, wanted: str, least_words: int, most: int) -> Iterator[str]:
    text = passage.text
    if not text.strip():
        yield "it is empty"
    if len(pieces(text)) < least_words:
        yield f"it has fewer than {least_words} words"
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
    """
    words = text.split()
    if len(_CODE_SIGNS.findall(text)) > _MOST_CODE * len(text):
        return True
    if len(_NUMBER.findall(text)) > _MOST_NUMBERS * max(len(words), 1):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    short = sum(len(line.split()) <= _SHORT_LINE for line in lines)
    return len(lines) >= _TABLE_LINES and short > len(lines) / 2
