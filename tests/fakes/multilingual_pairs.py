"""Made answers with gold answers, in many scripts, with all that tokenisers stumble over."""

# ruff: noqa: RUF001, S311, SIM905 - signs that look alike belong here; no secret is drawn

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from ragstone.components.metrics.answer_batch import AnswerBatch

ENGLISH: Final = (
    "the The a A. an of and in to is was are New York city Paris 1912 U.S. Newton's well-known "
    "mother-in-law catalogues incomprehensibilities the the Beatles A. A. Milne x_y (a. a.b"
).split()
OTHERS: Final = (
    "il y a dix ans été Straße el niño Århus naïve Größe București Łódź Čapek ŉ ǆ İstanbul ﬁn "
    "на Москва и Київ Ёлка Αθήνα ΟΔΟΣ ὁδός Tiếng Việt Đà Nẵng Հայ שלום שָׁלוֹם كتاب كِتَاب مـــن"
).split()
UNSPACED: Final = (
    "北京 東京市 「東京」。 とうきょう ｶﾀｶﾅ 서울은 กรุงเทพ ภาษา ລາວ ភាសា བོད हिन्दी தமிழ் বাংলা"
).split()
NUMBERS: Final = [
    "1,000", "1.000", "1 000", "1\u00a0000", "1.5", "1,5", "10,50", "15 %", "15%", "15 per cent",
    "$5", "US$ 5", "5 €", "£3", "5 million dollars", "-5", "3-1", "1914-1918", "10:30", "1/2",
    "2 1/3", "1½", "½", "10²", "m²", "x^2", "5km", "5 km/h", "20°C", "20 ° C", ".5", "C++", "C#",
    "#1", "+", "3+4", "v1.2.3", "24.12.2024", "5 euros", "3 mio €", "2 bn dollars",
    "9 us dollars", "7 procent", "8 pct",
    "1'000", "10,00,000", "٣٫٥", "१२", "５万", "2٬000",
    "%22", "100mm", "7 of", "4 the", "0.5%", "a1", "1a", "1st", "2é", "3 é", "1,2,3", "９", "1µm",
]  # fmt: skip
SIGNS: Final = [
    "", "...", "$", "—", "–", "’", "“Yes”", "…", "€", "°", "♭", "♯", "™", "№", "\u00ad", "\u200b",
    "\ufeff", "\t", "\n", "\0", "\x1b", "\x1f", "\x7f", "\x85", "\u2028", "🙂",
    "👩\u200d🔬", "❤\ufe0f",
    "e\u0301", "\u0301", "K", "Å", "\U000f0030", "\uffff", "_", "!!", "A.「", "ß", "ẞ", "ǰ", "ΐ",
]  # fmt: skip
_JOINTS: Final = (" ", " ", " ", " ", "", "-", ". ", ", ", "\n", "’", " — ", "\u00a0")
_LANGUAGES: Final = ("", "", "", "en", "fr", "de", "ru", "zh")


def blocks(pairs: int, seed: int) -> Iterator[AnswerBatch]:
    """Yield pairs by blocks of at most 1,024; each second block has texts of one language."""
    draw = random.Random(seed)
    while pairs > 0:
        size = min(pairs, draw.choice([1, 7, 1024, 1024, 1024]))
        known = draw.choice(_LANGUAGES) if draw.random() < 0.5 else None
        yield _block(draw, size, known)
        pairs -= size


def _block(draw: random.Random, size: int, known: str | None) -> AnswerBatch:
    answers, gold, queries, languages = list[str](), list[tuple[str, ...]](), list[str](), []
    for _ in range(size):
        words = _words(draw, draw.choice([0, 1, 1, 2, 3, 4, 6, 12]))
        answer = _text(draw, words)
        labels = [_label(draw, words) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
        query = draw.choice(["", "", "Who was it in 1912?", "東京の首都はどこですか"])
        answers.append(f"{query} {answer}" if query and draw.random() < 0.5 else answer)
        gold.append(tuple(label for label in labels if label.strip()) or ("Lima",))
        queries.append(query)
        languages.append(draw.choice(_LANGUAGES) if known is None else known)
    return AnswerBatch(answers, gold, queries, [None] * size, languages)


def _label(draw: random.Random, words: Sequence[str]) -> str:
    if not words or draw.random() < 0.3:
        return _text(draw, _words(draw, draw.choice([1, 1, 1, 2, 2, 3, 3, 70])))
    start = draw.randrange(len(words))
    return _text(draw, words[start : start + draw.choice([1, 2, 4, 21])])


def _words(draw: random.Random, count: int) -> list[str]:
    usual = draw.choice([ENGLISH, ENGLISH, OTHERS, [*OTHERS, *UNSPACED]])
    others = (NUMBERS, SIGNS, ENGLISH, OTHERS)
    return [
        draw.choice(usual if draw.random() < 0.8 else draw.choice(others)) for _ in range(count)
    ]


def _text(draw: random.Random, words: Sequence[str]) -> str:
    if draw.random() < 0.5:
        return " ".join(words)
    return "".join(f"{word}{draw.choice(_JOINTS)}" for word in words)
