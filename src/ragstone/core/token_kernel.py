"""The functions of `token_kernel.c`, if somebody has compiled it; without it nothing changes.

`make kernel` compiles it. All values are those of `components/metrics`, with and without it, so no
key, digest or record knows about it. `RAGSTONE_KERNEL=off` in the environment leaves it out.

Every call goes through `_call`, which holds what the pointers point at; lengths are checked here.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.uint64]
    Ints = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]
    Bytes = npt.NDArray[np.uint8]

SOURCE: Final = Path(__file__).with_suffix(".c")
LIBRARY: Final = SOURCE.with_name("libtoken_kernel.so")
_PADDING: Final = b"\0" * 16
_BYTES: Final = 256
_TOKENS_BELOW: Final = 2**31 - 1
GUESSED, ENGLISH, OTHER = range(3)
"""Languages of texts, as `cut` takes them."""


class FunctionWords(NamedTuple):
    """Codes and kinds of function words by slot: the upper `bits` bits of code x multiplier."""

    multiplier: int
    bits: int
    codes: Codes
    kinds: Bytes


class Folded(NamedTuple):
    """Folded texts, each with a zero behind it."""

    stream: bytes
    handled: Flags
    """Whether each text is folded; another one is empty."""
    digits: list[int]
    """Places, in characters, of the digits that may have several spellings."""


class Cut(NamedTuple):
    """Codes of the pieces and of the words, with their numbers per text."""

    pieces: Codes
    piece_counts: Ints
    words: Codes
    word_counts: Ints
    tails: Ints


class Shared(NamedTuple):
    """What an answer shares with each gold answer."""

    shared: Ints
    bigrams: Ints
    longest: Ints
    contained: Flags


def is_loaded() -> bool:
    """Return whether the compiled functions are there, made of this very source, and not off."""
    return _library() is not None


def reload() -> bool:
    """Look for the library again, after a change of the environment; return `is_loaded()`."""
    _library.cache_clear()
    return is_loaded()


@cache
def _library() -> ctypes.CDLL | None:
    if os.environ.get("RAGSTONE_KERNEL") == "off" or sys.byteorder != "little":
        return None
    try:
        found = ctypes.CDLL(str(LIBRARY))
        found.kernel_source.restype = ctypes.c_char_p
        known = found.kernel_source() == source_digest().encode()
    except (OSError, AttributeError):
        return None
    return found if known else None


def source_digest() -> str:
    """Return the digest of the source, which the compiled library repeats."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()


def _call(name: str, *arguments: npt.NDArray[Any] | bytes | int) -> int:
    """Call a function with arrays, bytes and numbers; return its result, which is not negative."""
    library = _library()
    if library is None:
        raise RuntimeError("the kernel is not loaded; ask is_loaded() first")
    function = library[name]
    function.restype = ctypes.c_int64
    done: int = function(*map(_argument, arguments))  # `arguments` holds all buffers
    if done < 0:
        raise MemoryError
    return done


def _argument(given: npt.NDArray[Any] | bytes | int) -> object:
    if isinstance(given, bytes):
        return ctypes.c_char_p(given)
    if isinstance(given, np.ndarray):
        if not given.flags.c_contiguous:
            raise ValueError("the kernel takes contiguous arrays")
        return ctypes.c_void_p(given.ctypes.data)
    return ctypes.c_uint64(given)


def fold(
    stream: bytes, texts: int, plain: bytes, classes: bytes, table: npt.NDArray[np.uint32]
) -> Folded:
    """Fold texts with a zero behind each.

    Args:
        stream: the texts.
        texts: their number.
        plain: byte -> byte, for ASCII.
        classes: byte -> as for `cut`; a text of signs alone is not handled.
        table: code point -> an entry of `character_entry`.
    """
    _require(stream.count(0) == texts and stream.endswith(b"\0" * min(1, texts)))
    _require(len(plain) == len(classes) == _BYTES and table.dtype == np.uint32)
    out, digits = np.empty(len(stream), np.uint8), np.empty(len(stream), np.int64)
    handled, found = np.empty(texts, np.bool_), np.zeros(1, np.int64)
    size = _call(
        "fold", stream, len(stream), texts, plain, classes, table, len(table),
        out, handled, digits, found,
    )  # fmt: skip
    return Folded(out[:size].tobytes(), handled, digits[: found[0]].tolist())


def character_entry(folded: bytes | None, *, behind_digit: bool) -> int:
    """Return an entry of the table of characters: the bytes of the folded character, at most three.

    Args:
        folded: the bytes; None for a character that is not handled.
        behind_digit: whether a text with the character behind a digit is handled.
    """
    if folded is None:
        return 0x80
    return len(folded) | (0 if behind_digit else 0x40) | int.from_bytes(folded, "little") << 8


def cut(stream: bytes, classes: bytes, known: FunctionWords, languages: Bytes) -> Cut:
    """Cut folded texts, with a zero behind each, into pieces and words.

    Args:
        stream: the texts.
        classes: byte -> 0 for the end, below 32 for a sign, 32 for a blank, above it for a letter.
        known: the function words of English and of other languages.
        languages: GUESSED, ENGLISH or OTHER per text.
    """
    texts, size = len(languages), len(stream)
    _require(stream.count(0) == texts and stream.endswith(b"\0" * min(1, texts)))
    _require(len(classes) == _BYTES)
    _require(len(known.codes) == len(known.kinds) == 1 << known.bits)
    _require(known.codes.dtype == np.uint64 and known.kinds.dtype == languages.dtype == np.uint8)
    pieces, words = np.empty(size // 2, np.uint64), np.empty(size // 2, np.uint64)
    counts, totals = np.empty((3, texts), np.int64), np.empty(2, np.int64)
    _call(
        "cut", stream + _PADDING, size, texts, classes,
        known.multiplier, known.bits, known.codes, known.kinds, languages,
        pieces, words, *counts, totals,
    )  # fmt: skip
    cut_to = totals.tolist()
    return Cut(
        pieces[: cut_to[0]].copy(), counts[0], words[: cut_to[1]].copy(), counts[1], counts[2]
    )


def overlap(
    answers: Codes, answer_counts: Ints, gold: Codes, gold_counts: Ints, gold_pair: Ints
) -> Shared:
    """Compare the tokens of each answer with those of its gold answers, one after another.

    Args:
        answers: codes, and their numbers per pair.
        answer_counts: the numbers.
        gold: the same of the gold answers.
        gold_counts: the same.
        gold_pair: the pair of each gold answer, in ascending order.
    """
    pairs, golds = len(answer_counts), len(gold_counts)
    per_pair = np.bincount(gold_pair, weights=gold_counts, minlength=pairs)
    most = [int(counts.max(initial=0)) for counts in (answer_counts, per_pair)]
    _require(len(gold_pair) == golds and len(per_pair) == pairs and max(most) < _TOKENS_BELOW)
    _require(bool((np.diff(gold_pair) >= 0).all()))
    for codes, counts in ((answers, answer_counts), (gold, gold_counts)):
        _require(codes.dtype == np.uint64 and counts.dtype == gold_pair.dtype == np.int64)
        _require(len(codes) == counts.sum() and counts.min(initial=0) >= 0)
    found, contained = np.empty((3, golds), np.int64), np.empty(golds, np.bool_)
    _call(
        "overlap", answers, answer_counts, pairs, gold, gold_counts, gold_pair, golds, *most,
        *found, contained,
    )  # fmt: skip
    return Shared(found[0], found[1], found[2], contained)


def _require(fits: bool) -> None:
    if not fits:
        raise ValueError("the kernel's buffers do not fit together")
