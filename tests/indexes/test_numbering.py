"""Words numbered in arrays are those of the general way, whatever the table holds."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ragstone.indexes import numbering
from ragstone.indexes.numbering import Numbering
from ragstone.text.analyzer import Analysis
from ragstone.text.words import normal, words


def _texts(count: int, seed: int) -> list[str]:
    """Return texts of pieces of 1 to 40 bytes in several scripts, many of them repeated."""
    draw = random.Random(seed)  # noqa: S311
    letters = "abcdefgh\x00éß東京\u0441\u043b\u043e-_\u2019 "
    pieces = ["".join(draw.choices(letters, k=draw.randint(1, 20))) for _ in range(400)]
    return [" ".join(draw.choices(pieces, k=draw.randint(0, 30))) for _ in range(count)]


@pytest.mark.parametrize("bits", [1, 5, 18])
@pytest.mark.parametrize("stemmer", ["none", "english"])
def test_numbers_are_those_of_the_words(
    monkeypatch: pytest.MonkeyPatch, bits: int, stemmer: str
) -> None:
    """A table with two places, with too few places, and with enough; in several blocks."""
    monkeypatch.setattr(numbering, "_BITS", bits)
    analysis = Analysis(stemmer=stemmer)
    numbers = Numbering(analysis)
    for seed in range(3):
        texts = _texts(40, seed % 2)
        found, places = numbers.numbers([normal(text).encode() for text in texts])
        names = np.array(list(numbers.words), dtype=object)
        for place, text in enumerate(texts):
            expected = sorted(analysis.kept(words(text)))
            assert sorted(names[found[places == place]].tolist()) == expected


def test_pieces_of_sixteen_bytes_and_more_are_told_apart() -> None:
    """The table compares 16 bytes; longer pieces with the same beginning are other words."""
    stem = "abcdefghijklmnop"
    texts = [stem, f"{stem}q", f"{stem}qr", stem[:8], stem[:9], f"{stem}q", stem, ""]
    numbers = Numbering(Analysis())
    for _ in range(2):
        found, places = numbers.numbers([text.encode() for text in texts])
        order = np.argsort(places, kind="stable")
        assert found[order].tolist() == [numbers.words[text] for text in texts if text]
