"""Which passages of a corpus a test set can be made from, and why the others cannot."""

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
    """Passages that can be written about, and the ids of the others with the reason."""

    passages: list[Passage]
    refused: dict[str, str]

    @property
    def reasons(self) -> Counter[str]:
        """Reason -> passages refused for it."""
        return Counter(self.refused.values())


def usable(
    corpus: Corpus,
    *,
    in_language: str,
    least_words: int = limits.MIN_PASSAGE_WORDS,
    most_characters: int = limits.MAX_PASSAGE_CHARACTERS,
) -> Usable:
    """Sort the passages of a corpus into those that can be written about and the rest.

    Args:
        corpus: all of it; nothing is left out without a reason.
        in_language: that of the prompts ("English"); "any" takes every passage.
        least_words: a shorter passage holds no statement worth a question.
        most_characters: Know Your RAG's limit.
    """
    kept: list[Passage] = []
    refused: dict[str, str] = {}
    seen: set[str] = set()
    for passage in corpus:
        reasons = _reasons(passage, in_language, least_words, most_characters)
        reason = next(reasons, "") or (
            "its text is there twice" if squeezed(passage.text) in seen else ""
        )
        if reason:
            refused[passage.passage_id] = reason
        else:
            seen.add(squeezed(passage.text))
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
    r"""Say whether a text is made of cells, numbers or program signs rather than of sentences.

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
