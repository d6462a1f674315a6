"""Every chunker on every kind of text: correct offsets, complete texts, exact overlaps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.components.chunkers.sentences import Sentences
from ragstone.components.chunkers.tokens import TokenWindows
from ragstone.components.chunkers.whole import Whole
from ragstone.components.chunkers.words import Words
from ragstone.core.builtins import BUILT_IN
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.models.tokenizer import BUNDLED, tokens
from ragstone.protocols import Chunker
from ragstone.types import Document, Passage

ENGLISH = "Dr. Smith came home at 3.5 p.m. today. He slept! Then what? Nobody knows, e.g. why. "
THAI = "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย และเป็นศูนย์กลางการปกครอง "
TEXTS = {
    "one word": "Lisbon",
    "english": ENGLISH * 5,
    "no spaces": "abcdefghij" * 300,
    "long words": ("incomprehensibilities" * 3 + " ") * 40,
    "right to left": "مرحبا بك في المدينة. كيف حالك اليوم؟ أنا بخير، شكرا لك. " * 8,
    "hebrew": "שלום עולם. מה שלומך היום? הכול טוב. " * 8,
    "combining": "e\u0301te\u0301 a\u0300 la mer\u0323\u0301. " * 40,
    "crlf": "One line.\r\nAnother line\r\n\r\nA paragraph.\r\n" * 20,
    "chinese": "黑豹队的防守只丢了308分。他们赢了\uff01為什麼\uff1f" * 20,
    "japanese": "東京は日本の首都です。「はい。」と言った。カタカナもある。" * 15,
    "thai": THAI * 10,
    "hindi": "यह एक वाक्य है। वह दूसरा था। क्या यह ठीक है? " * 12,
    "korean": "서울은 대한민국의 수도이다. 한강이 흐른다. " * 15,
    "emoji": "😀 Fine 👩‍👩‍👧 day. 🇵🇹 Lisbon! " * 20,
    "white space around": "\n\n  A text. Another one.  \n\t",
    "only marks": "\u0301\u0301",
    "zero width": "\u200b\u200b \u200b",
}
CHUNKERS: Sequence[Any] = (
    Words(7),
    Words(7, overlap=3),
    Words(7, unit="characters"),
    TokenWindows(20, overlap=5),
    TokenWindows(1, overlap=0),
    Sentences(20),
    Sentences(20, overlap=8),
    Sentences(1),
    Whole(),
)
any_text = st.text(max_size=300) | st.text(
    st.sampled_from("ab .\n\r!。東ก\u0301한😀"), max_size=200
)


def _cut(chunker: Chunker, text: str, **fields: Any) -> list[Passage]:
    return list(chunker.passages(Document("d", text, **fields)))


def _check_faithful(chunker: Chunker, text: str) -> None:
    """Check that spans begin at 0, leave no gap, move forward and end with the text."""
    passages = _cut(chunker, text)
    spans = [(int(str(p.labels["start"])), int(str(p.labels["end"]))) for p in passages]

    assert bool(passages) == bool(text.strip())
    assert [p.text for p in passages] == [text[start:end] for start, end in spans]
    assert all(p.text and p.document_id == "d" for p in passages)
    assert len({p.passage_id for p in passages}) == len(passages)
    if spans:
        assert (spans[0][0], spans[-1][1]) == (0, len(text))
    assert all(a < c <= b < d for (a, b), (c, d) in pairwise(spans))


@pytest.mark.parametrize("chunker", CHUNKERS, ids=repr)
@pytest.mark.parametrize("kind", TEXTS)
def test_passages_cover_the_whole_text(chunker: Chunker, kind: str) -> None:
    """In every script, with marks, line ends, emoji and words of any length."""
    _check_faithful(chunker, TEXTS[kind])


@pytest.mark.parametrize("chunker", CHUNKERS, ids=repr)
@given(text=any_text)
@settings(max_examples=40, deadline=None)
def test_passages_cover_any_text(chunker: Chunker, text: str) -> None:
    """Random texts of any characters."""
    _check_faithful(chunker, text)


@pytest.mark.parametrize("chunker", CHUNKERS, ids=repr)
@pytest.mark.parametrize("text", ["", " \n\t ", "\u3000"])
def test_a_document_without_text_has_no_passage(chunker: Chunker, text: str) -> None:
    """White space is not a passage."""
    assert _cut(chunker, text) == []


@given(
    count=st.integers(1, 60),
    size=st.integers(1, 20),
    overlap=st.integers(0, 19),
    unit=st.sampled_from(["words", "characters"]),
)
@settings(max_examples=60, deadline=None)
def test_windows_of_words_overlap_exactly(count: int, size: int, overlap: int, unit: Any) -> None:
    """All but the last have `size` units; each begins with the last `overlap` of the one before."""
    if overlap >= size:
        return
    units = [chr(0x4E00 + n) for n in range(count)]
    text = ("" if unit == "characters" else " ").join(units)
    split = [list(p.text.replace(" ", "")) for p in _cut(Words(size, overlap, unit), text)]

    assert all(len(part) == size for part in split[:-1])
    assert all(b[:overlap] == a[len(a) - overlap :] for a, b in pairwise(split))
    assert [*split[0], *(one for part in split[1:] for one in part[overlap:])] == units


@given(st.integers(1, 900), st.integers(2, 40), st.data())
@settings(max_examples=40, deadline=None)
def test_windows_of_tokens_overlap_exactly(count: int, size: int, data: st.DataObject) -> None:
    """All but the last have `size` tokens, counted by the tokenizer, and share `overlap`."""
    overlap = data.draw(st.integers(0, size - 1))
    text = " ".join(["one", "two", "unbelievably", "three,"][n % 4] for n in range(count))
    starts = tokens(text, BUNDLED).starts
    spans = [(p.labels["start"], p.labels["end"]) for p in _cut(TokenWindows(size, overlap), text)]
    held = [sum(1 for t in starts if a <= t < b) for a, b in spans]
    shared = [sum(1 for t in starts if c <= t < b) for (_, b), (c, _) in pairwise(spans)]

    assert all(n == size for n in held[:-1])
    assert held[-1] <= size
    assert all(n == overlap for n in shared)


def test_units_are_words_or_characters_by_script() -> None:
    """100 of either; a Thai vowel sign belongs to its letter and does not count."""
    english = [p.text.split() for p in _cut(Words(), ENGLISH * 20)]
    thai = [p.text for p in _cut(Words(), THAI * 10)]
    counted = [len(re.findall(r"[^\s\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]", text)) for text in thai]

    assert [len(words) for words in english[:-1]] == [100] * (len(english) - 1)
    assert counted[:-1] == [100] * (len(thai) - 1)
    assert not any(re.match(r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]", text) for text in thai)


def test_the_script_of_most_letters_decides_the_unit() -> None:
    """Korean is cut by words, a Chinese text with Latin names by characters."""
    korean = _cut(Words(5), TEXTS["korean"])
    chinese = _cut(Words(5), "我們在 Lisbon 看見了海。" * 4)

    assert all(len(p.text.split()) == 5 for p in korean)
    assert chinese[0].text == "我們在 Li"


def test_a_letter_keeps_its_mark() -> None:
    """A window of characters never begins with a combining mark."""
    passages = _cut(Words(3, unit="characters"), TEXTS["combining"])

    assert not any(p.text[0] in "\u0301\u0300\u0323" for p in passages)


@pytest.mark.parametrize("kind", ["english", "right to left", "chinese", "japanese", "hindi"])
def test_passages_contain_as_many_whole_sentences_as_fit(kind: str) -> None:
    """Each passage is within the limit and ends with a sentence; one more would not fit."""
    size = 40
    passages = _cut(Sentences(size), TEXTS[kind])
    lengths = [len(tokens(p.text, BUNDLED).starts) for p in passages]

    assert max(lengths) <= size
    assert all(p.text.rstrip()[-1] in ".!?。\uff01\uff1f؟।」" for p in passages)
    assert len(passages) < len(_cut(Sentences(15), TEXTS[kind]))


def test_abbreviations_and_numbers_do_not_end_a_sentence() -> None:
    """`Dr.` and `3.5` are within a sentence."""
    texts = [p.text for p in _cut(Sentences(16), ENGLISH)]

    assert texts[0].startswith("Dr. Smith came home at 3.5 p.m. today.")


@pytest.mark.parametrize("size", [1, 7, 330])
def test_a_sentence_over_the_limit_is_cut_between_words(size: int) -> None:
    """100,000 words without a full stop: every passage fits and words stay whole."""
    words = ["tokenization", "of", "words"] * (33_334 if size == 330 else 300)
    passages = _cut(Sentences(size), " ".join(words[:100_000]))

    if size > 2:  # "tokenization" has two tokens
        assert [w for p in passages for w in p.text.split()] == words[:100_000]
    held = passages if size < 330 else passages[:20]
    assert all(len(tokens(p.text, BUNDLED).starts) <= max(size, 2) for p in held)


def test_thai_is_cut_at_the_limit_between_phrases() -> None:
    """Thai has no sentence marks, and the bundled tokenizer makes one token of a phrase."""
    passages = _cut(Sentences(3), THAI * 10)

    assert [len(p.text.split()) for p in passages] == [3] * 6 + [2]
    assert len(tokens(THAI, BUNDLED).starts) == 2


def test_overlaps_are_whole_sentences() -> None:
    """The next passage begins with the last sentences that fit into the overlap."""
    text = "".join(f"Sentence number {n} is here. " for n in range(20))
    passages = [p.text for p in _cut(Sentences(24, overlap=12), text)]
    apart = [re.findall(r"\d+", text) for text in passages]

    assert all(a[-2:] == b[:2] and len(a) == 4 for a, b in pairwise(apart[:-1]))


def test_a_text_without_spaces_is_one_word() -> None:
    """A key or a sequence, for example, cannot be cut inside of the word."""
    assert [len(p.text) for p in _cut(Words(), "x" * 100_000)] == [100_000]
    assert [len(p.text) for p in _cut(Sentences(), "x" * 100_000)] == [100_000]


def test_whole_documents_keep_their_ids_and_parts_have_offsets() -> None:
    """The title stays in its own column, for all chunkers."""
    (whole,) = _cut(Whole(), "A text.", title="Title")
    (part,) = _cut(Whole(), "A text.", offset=100, complete=False)
    (untitled,) = _cut(Words(), "A text.")

    assert (whole.passage_id, whole.full_text) == ("d", "Title\nA text.")
    assert (part.passage_id, part.labels) == ("d-100-107", {"start": 100, "end": 107})
    assert untitled.full_text == "A text."


@pytest.mark.parametrize("name", ["words", "tokens", "sentences"])
@pytest.mark.parametrize("written", ["(10, overlap=10)", "(10, overlap=11)", "(10, overlap=-1)"])
def test_an_overlap_of_the_size_or_more_is_refused(name: str, written: str) -> None:
    """Size 10 allows overlaps from 0 to 9."""
    with pytest.raises(ConfigError, match="less than the size 10"):
        create("chunkers", name + written, where="test")


def test_a_size_below_one_is_refused() -> None:
    """Passages are not empty."""
    with pytest.raises(ConfigError, match="size must be 1 or more, found 0"):
        Words(0)


@pytest.mark.parametrize("name", sorted(BUILT_IN["chunkers"]))
def test_every_chunker_keeps_the_contract(name: str) -> None:
    """It is created by its name, cuts with its defaults, and is part of a cache key."""
    from ragstone.core.fingerprint import cache_key_parts

    chunker = create("chunkers", name, where="test")

    assert isinstance(chunker, Chunker)
    assert cache_key_parts(chunker) == cache_key_parts(create("chunkers", name, where="test"))
    _check_faithful(chunker, ENGLISH * 100)
