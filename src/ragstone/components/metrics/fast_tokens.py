"""The words and pieces of many texts at once, as arrays of codes: `ragstone.text.normalise`, fast.

All texts are joined, and their bytes are split in one pass. A token has a 64-bit code: its bytes if
there are at most eight, else a hash of them. Two different tokens of a pair of texts have the same
code with a probability of 2^-64.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ragstone.components.metrics.arrays import positions
from ragstone.core.byte_codes import MIX, WORD, byte_codes
from ragstone.text.fold_many import END, fold_joined
from ragstone.text.normalise import ARTICLES, NOT_ENGLISH, SIGN, fold, is_english, words

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.components.metrics.arrays import Codes, Flags, Ints

_SIGNS: Final = (string.punctuation + SIGN).encode()
_BLANK: Final = 32
_FULL_STOP: Final = 30
_FOLD: Final = bytes(
    _FULL_STOP if byte == ord(".")
    else ord(SIGN) if byte in _SIGNS
    else _BLANK if 0 < byte < _BLANK or byte == 127  # noqa: PLR2004 - the control characters
    else byte
    for byte in bytes(range(256)).lower()
)  # fmt: skip
"""Byte -> byte: ends of texts to 0, signs below the blank, letters and digits above it."""
_NO_CHARACTER: Final = "\uffff"
_BELOW_BLANK: Final = bytes(range(1, _BLANK))


@dataclass(frozen=True)
class Tokens:
    """The tokens of some texts, one text after another."""

    code: Codes
    counts: Ints
    """Number of tokens per text."""

    @cached_property
    def owner(self) -> Ints:
        """The text of each token."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def places(self, positions: Ints) -> Ints:
        """Return the positions of some tokens in their own texts, from 0."""
        starts = np.cumsum(self.counts) - self.counts
        place: Ints = positions - starts[self.owner[positions]]
        return place

    def without(self, codes: Sequence[int]) -> Kept:
        """Return the tokens without those of some codes."""
        drop = np.isin(self.code, np.array(codes, np.uint64))
        gone = np.bincount(self.owner[drop], minlength=len(self.counts))
        return Kept(Tokens(self.code[~drop], self.counts - gone), gone)

    def of(self, text: int) -> list[int]:
        """Return the codes of one text."""
        start = int(self.counts[:text].sum())
        codes: list[int] = self.code[start : start + int(self.counts[text])].tolist()
        return codes


class Kept(NamedTuple):
    """The remaining tokens, and the number of removed tokens per text."""

    kept: Tokens
    gone: Ints


@dataclass(frozen=True)
class Texts:
    """Many texts, split into pieces; words are made of pieces, because most words are one piece."""

    texts: Sequence[str]
    languages: Sequence[str]
    signs: frozenset[int] = frozenset()
    """Positions of ASCII texts of signs alone, which have to be folded."""

    @cached_property
    def _stream(self) -> bytes:
        """All texts folded, a zero before and after each, and padding behind the last."""
        joined = _joined(self.texts, self.languages, self.signs)
        return joined.translate(_FOLD) + b"\0" * (2 * WORD)

    @cached_property
    def _bounds(self) -> tuple[Ints, Ints]:
        """Start of every piece, and the position after its end."""
        edges = _edges(self._stream)
        return edges[0::2], edges[1::2]

    @cached_property
    def ends(self) -> Ints:
        """Positions of the zeros before, between and after the texts."""
        held = np.frombuffer(self._stream, np.uint8)[: -2 * WORD]
        return np.flatnonzero(held == 0)

    @cached_property
    def pieces(self) -> Tokens:
        """The texts' pieces."""
        starts, ends = self._bounds
        counts = np.diff(np.searchsorted(starts, self.ends))
        return Tokens(byte_codes(self._stream, starts, ends - starts), counts)

    @cached_property
    def words(self) -> Tokens:
        """The texts' words without English articles."""
        starts, ends = self._bounds
        glued = self._glued
        code, dropped = self.pieces.code, np.zeros(len(starts), np.bool_)
        dropped[1:] = glued[:-1]
        if glued.any():
            heads = np.flatnonzero(glued & ~dropped)
            lasts = np.flatnonzero(dropped & ~glued)
            code = code.copy()
            code[heads] = _joined_codes(self._stream, starts[heads], ends[lasts])
        tails = self.tails
        articles = self._articles(code, dropped, self.pieces.counts - tails)
        dropped[articles] = True
        gone = np.bincount(self.pieces.owner[articles], minlength=len(self.texts))
        return Tokens(code[~dropped], self.pieces.counts - tails - gone)

    def _articles(self, code: Codes, dropped: Flags, counts: Ints) -> Ints:
        """Return the positions of the articles to drop, given the codes of the words."""
        held, kinds = _function_words()
        slot = _slots(code)
        likely = np.flatnonzero(kinds[slot])
        likely = likely[(held[slot[likely]] == code[likely]) & ~dropped[likely]]
        kind, owner = kinds[slot[likely]], self.pieces.owner[likely]
        article = kind == _IS_ARTICLE
        lone = np.flatnonzero(code[likely] == _CODE_OF_A)
        article[lone] &= ~self._initials(self._bounds[0][likely[lone]])
        keeps = _keeps_articles(owner[kind == _IS_FOREIGN], self.texts, self.languages)
        keeps |= np.bincount(owner[article], minlength=len(counts)) == counts
        found: Ints = likely[article & ~keeps[owner]]
        return found

    @cached_property
    def tails(self) -> Ints:
        """Number of pieces per text that belong to the word before them."""
        heads = self.pieces.owner[:-1][self._glued[:-1]]
        return np.bincount(heads, minlength=len(self.texts))

    @cached_property
    def _glued(self) -> Flags:
        """Return whether only signs separate each piece from the next: they are one word."""
        starts, ends = self._bounds
        held = np.frombuffer(self._stream, np.uint8)
        behind = held[ends]
        glued: Flags = (behind - np.uint8(1)) < np.uint8(_BLANK - 1)  # 0 wraps round to 255
        glued[-1:] = False
        far = np.flatnonzero(glued)
        offset = 1
        while len(far := far[starts[far + 1] - ends[far] > offset]):
            behind = held[ends[far] + offset]
            blank = (behind == 0) | (behind == _BLANK)
            glued[far[blank]] = False
            far = far[~blank]
            offset += 1
        return glued

    def _initials(self, starts: Ints) -> Flags:
        """Return whether the `a` at each start is an initial: a full stop and a blank follow."""
        held = np.frombuffer(self._stream, np.uint8)
        before, after = held[starts - 1], held[starts + 2]
        alone = ((before == 0) | (before == _BLANK)) & ((after == 0) | (after == _BLANK))
        initial: Flags = alone & (held[starts + 1] == _FULL_STOP)
        return initial


def cut(texts: Sequence[str], languages: Sequence[str] | None = None) -> Texts:
    """Return the texts as words and as pieces."""
    known = [""] * len(texts) if languages is None else languages
    found = Texts(texts, known)
    if len(found.ends) != len(texts) + 1:  # a text contains a zero itself
        found = Texts([text.replace(END, " ") for text in texts], known)
    empty = [i for i in positions(found.pieces.counts == 0) if texts[i].strip()]
    signs = frozenset(i for i in empty if texts[i].isascii() and not fold(texts[i]).isascii())
    return Texts(found.texts, known, signs) if signs else found


def _joined(texts: Sequence[str], languages: Sequence[str], signs: frozenset[int]) -> bytes:
    """Return the folded texts with an end before and after each."""
    found = [""] * len(texts)
    for language in sorted(set(languages)):
        mine = [i for i, known in enumerate(languages) if known == language]
        folded = fold_joined([texts[i] for i in mine], language)
        if len(mine) == len(texts) and not signs:
            return f"{END}{folded}{END}".encode()
        for i, text in zip(mine, folded.split(END), strict=True):
            found[i] = text
    for i in signs:
        found[i] = fold(texts[i], languages[i])
    return f"{END}{END.join(found)}{END}".encode() if texts else END.encode()


def blank_separated(texts: Sequence[str], table: bytes = bytes(range(256))) -> Tokens:
    """Return the tokens between the blanks of some texts, whose bytes are replaced by a table."""
    joined = END.join(text.replace(END, _NO_CHARACTER) for text in texts)
    stream = f"{END}{joined}{END}".encode().translate(table) + b"\0" * (2 * WORD)
    held = np.frombuffer(stream, np.uint8)
    inside = (held != 0) & (held != _BLANK)
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    counts = np.diff(np.searchsorted(starts, np.flatnonzero(held[: -2 * WORD] == 0)))
    return Tokens(byte_codes(stream, starts, ends - starts), counts[: len(texts)])


def _edges(stream: bytes) -> Ints:
    """Return the start and the end of each run of letters and digits, in turn."""
    inside = np.frombuffer(stream, np.uint8) > _BLANK
    edges: Ints = np.flatnonzero(inside[1:] != inside[:-1])
    edges += 1
    return edges


def _joined_codes(stream: bytes, starts: Ints, ends: Ints) -> Codes:
    """Return the codes of parts of the stream, their signs deleted."""
    found = [stream[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    packed = b"\0" + b"\0".join(found).translate(None, _BELOW_BLANK) + b"\0" * (2 * WORD)
    edges = _edges(packed)
    return byte_codes(packed, edges[0::2], edges[1::2] - edges[0::2])


def token_code(token: str) -> int:
    """Return the code of a token."""
    held = token.encode()
    padded = held + b"\0" * (2 * WORD)
    return int(byte_codes(padded, np.array([0]), np.array([len(held)]))[0])


_CODE_OF_A: Final = token_code("a")
_SLOTS: Final = 14
_IS_ARTICLE, _IS_FOREIGN = 1, 2


@lru_cache(maxsize=1)
def _function_words() -> tuple[Codes, npt.NDArray[np.uint8]]:
    """Return a table of function words, which each have their own slot, and their kinds."""
    kinds = dict.fromkeys(map(token_code, NOT_ENGLISH), _IS_FOREIGN)
    kinds |= dict.fromkeys(map(token_code, ARTICLES), _IS_ARTICLE)
    codes = np.array(list(kinds), dtype=np.uint64)
    held, kind = np.zeros(1 << _SLOTS, np.uint64), np.zeros(1 << _SLOTS, np.uint8)
    held[_slots(codes)] = codes
    kind[_slots(codes)] = list(kinds.values())
    return held, kind


def _slots(codes: Codes) -> Ints:
    found: Ints = ((codes * MIX) >> np.uint64(64 - _SLOTS)).view(np.int64)
    return found


def _keeps_articles(foreign: Ints, texts: Sequence[str], languages: Sequence[str]) -> Flags:
    """Return whether each text is not English, given the texts of its foreign function words."""
    keeps = np.zeros(len(texts), np.bool_)
    several = np.bincount(foreign, minlength=len(texts)) >= 2  # noqa: PLR2004 - see is_english
    for i in positions(several):
        keeps[i] = not is_english(words(texts[i], "other"))
    for i, language in enumerate(languages if any(languages) else ()):
        if language:
            keeps[i] = not is_english([], language)
    return keeps
