"""Tokens and overlap by the compiled kernel: the values of `fast_tokens` and `token_overlap`.

Texts with a character that the kernel's table does not have (Chinese, combining marks, currency
signs outside ASCII), and texts of signs alone, are cut by `fast_tokens`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ragstone.components.metrics.fast_tokens import (
    CLASSES,
    SLOTS,
    Texts,
    Tokens,
    cut,
    function_words,
)
from ragstone.components.metrics.token_overlap import GoldTokens, TokenOverlap
from ragstone.core import limits, token_kernel
from ragstone.text.fold_many import END, PLAIN, fold_joined, folded_run
from ragstone.text.normalise import UNSPACED_CHARACTER, fold, is_english
from ragstone.text.numbers import KEPT, numbers, set_apart

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.components.metrics.arrays import Flags, Ints

_TABLED: Final = (
    range(0x80, 0x700),  # Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic
    range(0x1E00, 0x1F00),  # Latin, Vietnamese among it
    range(0x2000, 0x2300),  # punctuation, letter-like signs, arrows, mathematics
)
"""Code points of characters that the kernel may fold."""
_END: Final = END.encode()


class CutTexts(NamedTuple):
    """Texts as pieces and as words; `tails` counts the pieces that belong to the word before."""

    pieces: Tokens
    words: Tokens
    tails: Ints


def cut_texts(texts: Sequence[str], languages: Sequence[str] | None = None) -> CutTexts | Texts:
    """Return the texts as words and as pieces, by the kernel if it is loaded."""
    if not token_kernel.is_loaded():
        return cut(texts, languages)
    known = [""] * len(texts) if languages is None else languages
    kinds = np.array([_kind(one) for one in known] if any(known) else [0] * len(texts), np.uint8)
    found = token_kernel.cut(_folded(texts, known), CLASSES, _function_words(), kinds)
    return CutTexts(
        Tokens(found.pieces, found.piece_counts),
        Tokens(found.words, found.word_counts),
        found.tails,
    )


def token_overlap(answers: Tokens, gold: GoldTokens) -> TokenOverlap:
    """Return the overlap of answers with their gold answers, by the kernel if it is loaded."""
    return (CompiledOverlap if token_kernel.is_loaded() else TokenOverlap)(answers, gold)


@dataclass(frozen=True)
class CompiledOverlap(TokenOverlap):
    """The overlap of answers with their gold answers, counted by the kernel."""

    @cached_property
    def _counted(self) -> token_kernel.Shared:
        gold = self.gold
        return token_kernel.overlap(
            self.answers.code, self.answers.counts, gold.code, gold.counts, self.gold_pair
        )

    @cached_property
    def shared(self) -> Ints:
        """Number of tokens per gold index in answer and gold answer, each as often as in both."""
        return self._counted.shared

    @cached_property
    def shared_bigrams(self) -> Ints:
        """The same for pairs of neighbouring tokens."""
        return self._counted.bigrams

    @cached_property
    def longest_common(self) -> Ints:
        """Length of the longest common subsequence, per gold index."""
        return self._counted.longest

    @cached_property
    def contained(self) -> Flags:
        """Whether the answer contains the gold answer without a gap, per gold index."""
        return self._counted.contained


def _folded(texts: Sequence[str], languages: Sequence[str]) -> bytes:
    """Return the folded texts with a zero behind each."""
    several = sorted(set(languages))
    if len(several) == 1:
        return _folded_alike(texts, several[0])
    found = [b""] * len(texts)
    for language in several:
        rows = [i for i, one in enumerate(languages) if one == language]
        alike = _folded_alike([texts[i] for i in rows], language).split(_END)
        for i, text in zip(rows, alike, strict=False):  # nothing is behind the last zero
            found[i] = text
    return _END.join([*found, b""])


def _folded_alike(texts: Sequence[str], language: str) -> bytes:
    """Return the folded texts of one language with a zero behind each."""
    joined = END.join(chain(texts, [""]))
    if joined.count(END) != len(texts):
        return _folded_alike([text.replace(END, " ") for text in texts], language)
    stream, handled, digits = token_kernel.fold(
        joined.encode(), len(texts), PLAIN, CLASSES, _characters()
    )
    if digits or b"+" in stream or b"#" in stream or language:
        stream = numbers(stream.decode(), language, digits).encode()
    if handled.all():
        return stream
    found = stream.split(_END)
    rows = np.flatnonzero(~handled).tolist()
    for i, text in zip(rows, _folded_plainly([texts[i] for i in rows], language), strict=True):
        found[i] = text
    return _END.join(found)


def _folded_plainly(texts: Sequence[str], language: str) -> list[bytes]:
    """Return folded texts that the kernel does not handle."""
    others = [text for text in texts if not text.isascii()]
    many = iter(fold_joined(others, language).split(END) if others else ())
    return [(fold(text, language) if text.isascii() else next(many)).encode() for text in texts]


@lru_cache(maxsize=limits.CACHED_CHARACTERS)
def _kind(language: str) -> int:
    if not language:
        return token_kernel.GUESSED
    return token_kernel.ENGLISH if is_english([], language) else token_kernel.OTHER


@lru_cache(maxsize=1)
def _function_words() -> token_kernel.FunctionWords:
    multiplier, codes, kinds = function_words()
    return token_kernel.FunctionWords(int(multiplier), SLOTS, codes, kinds)


@lru_cache(maxsize=1)
def _characters() -> npt.NDArray[np.uint32]:
    """Return the kernel's table of characters."""
    entry = token_kernel.character_entry
    table = np.full(_TABLED[-1].stop, entry(None, behind_digit=False), np.uint32)
    for character in map(chr, chain.from_iterable(_TABLED)):
        number = f"1{character}000"
        behind_digit = set_apart(number) == number
        table[ord(character)] = entry(_alone(character), behind_digit=behind_digit)
    return table


def _alone(character: str) -> bytes | None:
    """Return what a character is folded to; None if its neighbours or numbers decide that."""
    normal = unicodedata.normalize("NFKC", character)
    marks = any(
        unicodedata.category(c)[0] == "M" for c in (*character, *normal, *normal.casefold())
    )
    if marks or KEPT.match(character) or UNSPACED_CHARACTER.search(normal):
        return None
    folded = folded_run(character).encode()
    return folded if len(folded) <= len(character.encode()) else None
