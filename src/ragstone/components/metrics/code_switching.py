"""code-switching: how much of an answer is in another language than its main part."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from ragstone.components.metrics.base import AnswerMetric, Direction
from ragstone.text.language import (
    SHORT,
    language_of,
    likely_language,
    script_of,
    tells_no_language,
)
from ragstone.text.language_names import one_language
from ragstone.text.scripts import UNSPACED, marks

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.protocols import Services

_NO_LANGUAGE: Final = re.compile(r"https?://\S+|www\.\S+|\S{1,200}@\S+|\[[^\]\n]{0,40}\]|`[^`]*`")
"""Addresses, citations and code."""
_SENTENCE: Final = re.compile(
    r"(?<=[.!?;\u037e\u061f\u061b\u06d4\u0964])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\n+"
)
_WRITTEN_TOGETHER: Final = {"zh": ("zh", "ja"), "ja": ("zh", "ja"), "ko": ("ko", "zh")}
"""Script -> scripts that texts in one language mix: kana, Hangul and Chinese characters."""
_LEAST_LETTERS: Final = 3
"""Letters of the shortest foreign word: units (km), symbols and initials are shorter."""


class _Sentence(NamedTuple):
    words: Sequence[str]
    language: str
    """"" if the sentence is too short, or if its language is uncertain."""

    @classmethod
    def of(cls, text: str) -> _Sentence:
        language = language_of(text) if len(text.strip()) >= SHORT else ""
        words = [word for word in _word().findall(text) if script_of(word[0])]
        return cls(words, one_language(language))

    @property
    def script(self) -> str:
        """The script of most words."""
        return _most([(script_of(word[0]), 1) for word in self.words])

    def counted(self, main: str, home: Sequence[str]) -> tuple[int, int]:
        """Return the number of words in another language, and of all that have one."""
        if self.language not in ("", main):
            return len(self.words), len(self.words)
        foreign = [word for word in self.words if script_of(word[0]) not in home]
        counted = sum(map(_is_foreign, foreign))
        return counted, len(self.words) - len(foreign) + counted


@dataclass(frozen=True)
class CodeSwitching(AnswerMetric):
    """The share of an answer's words that are in another language than its main part.

    The idea is the code-mixing index of Das and Gambäck (ICON 2014): 1 less the share of the most
    frequent language, among the words that have a language. Here a word has the language of its
    sentence, if that has 50 characters or more and a certain language (a probability of 0.8 by
    fastText's lid.176), else that of the main part; a word in a script of neither is in another
    language. In scripts without spaces each character is a word.

    Numbers, citations, addresses, code, and foreign words with a capital letter (names) or fewer
    than three letters (units) are left out. The metric does not apply to answers that are too short
    to tell their language.

    Formula: words in another language than the main part / words with a language.

    Source: Das and Gambäck, ICON 2014.

    Trap: an answer that is wholly in a wrong language gets 0.
    """

    name: ClassVar[str] = "code-switching"
    direction: ClassVar[Direction] = "lower"
    requires_extra = "lang"
    description: ClassVar[str] = (
        "The share of an answer's words in another language than its main part; names, numbers and "
        "citations are left out. Lower is better."
    )
    requires: ClassVar[frozenset[str]] = frozenset()

    def check(self, services: Services) -> None:
        """Raise `MissingDependency` if the package with lid.176 is not installed."""
        likely_language("", ())

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the share per pair."""
        return np.array([switched_share(answer) for answer in pairs.answers], float)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the reason for answers that are too short."""
        return {
            i: "the answer is too short to tell"
            for i, answer in enumerate(pairs.answers)
            if tells_no_language(answer)
        }


def switched_share(text: str) -> float:
    """Return the share of a text's words in another language than its main part.

    >>> switched_share("Die Stadt liegt am Ufer. 这里 300 Einwohner in Hamburg [1].")
    0.2
    """
    plain = _NO_LANGUAGE.sub(" ", unicodedata.normalize("NFC", text))
    sentences = [one for part in _SENTENCE.split(plain) if (one := _Sentence.of(part)).words]
    script = _most([(script_of(word[0]), 1) for one in sentences for word in one.words])
    home = _WRITTEN_TOGETHER.get(script, (script,))
    main = _most([(s.language, len(s.words)) for s in sentences if s.language and s.script in home])
    counts = [sentence.counted(main, home) for sentence in sentences]
    total = sum(words for _, words in counts)
    return sum(foreign for foreign, _ in counts) / total if total else 0.0


def _most(weighted: Sequence[tuple[str, int]]) -> str:
    """Return the name with the highest sum of weights, the first one of equals."""
    sums = Counter[str]()
    for name, weight in weighted:
        sums[name] += weight
    return max(sums, key=sums.__getitem__, default="")


def _is_foreign(word: str) -> bool:
    """Return whether a word in a foreign script is neither a name nor a unit."""
    if re.match(f"[{UNSPACED}]", word):
        return True
    return len(word) >= _LEAST_LETTERS and not word[0].isupper()


@cache
def _word() -> re.Pattern[str]:
    """Match a word, or a character of a script without spaces."""
    letter = rf"[^\W\d_{UNSPACED}]"
    return re.compile(rf"{letter}(?:{letter}|[{marks()}'\u2019])*|(?=[^\W\d_])[{UNSPACED}]")
