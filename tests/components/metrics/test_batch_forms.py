"""The array forms of answer metrics equal their plain forms on random texts."""

from __future__ import annotations

from unicodedata import category

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.fast_tokens import cut, function_words, token_code
from ragstone.components.metrics.match import occurs
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.precision_recall import lcs_length, overlap, rates
from ragstone.components.metrics.published_normalisers import (
    ascii_pieces,
    ascii_tokens,
    squad_tokens,
    squad_words,
)
from ragstone.components.metrics.rouge import grams
from ragstone.components.metrics.token_overlap import _look_up
from ragstone.text.normalise import ARTICLES, ENGLISH, NOT_ENGLISH, pieces, words
from ragstone.text.numbers import hold

PARTS = [
    "the", "The", "a", "A.", "an", "cat", "catalogues", "incomprehensibilities", "U.S.", "1,000",
    "Newton's", "well-known", "...", "$", "il", "y", "la", "ans", "été", "Straße", "北京", "東京市",
    "กรุงเทพ", "서울은", "「", "—", "\u00ad", "\u200b", "\t", "\n", "\0", "x_y", "(a.",
    "a.b", "\x1f", "\x1b", "\x85", "A.「", "-5", "1.5", "1.000", "1 000", "1\u00a0000", "15 %",
    "$5", "5 €", "°C", "C++", "C#", "½", "1/2", "\u0663\u066b\u0665", "๑๒", "१२", "10²", "5km",
    "million", "dollars", "2-1", "كِتَاب", "שָׁלוֹם", "5万", "\u22123", "+", "#", ".5", "€", "x^2",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).flatmap(
    lambda parts: st.sampled_from([" ".join(parts), "".join(parts)])
) | st.text(max_size=12)
ITEMS = st.lists(
    st.tuples(
        TEXTS, st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from(["", "en", "fr", "de"])
    ),
    min_size=1,
    max_size=6,
)


def pairs_of(items: list[tuple[str, list[str], str]]) -> AnswerBatch:
    """Return answers, gold answers and languages as pairs."""
    answers, gold, languages = ([item[i] for item in items] for i in range(3))
    return AnswerBatch(
        answers,  # type: ignore[arg-type]
        [tuple(labels) for labels in gold],
        [""] * len(items),
        [None] * len(items),
        languages,  # type: ignore[arg-type]
    )


def code_of(token: str) -> int:
    """Return the code of a plain token, whose signs the array form holds as letters."""
    return token_code("".join(hold(c) if category(c)[0] in "PS" else c for c in token))


def values(metric: str, pairs: AnswerBatch) -> list[float]:
    """Return the values of a metric."""
    found: list[float] = parse_metric(metric).values(pairs).tolist()  # type: ignore[arg-type]
    return found


@settings(deadline=None)
@example([("\U000f0030", [""], "")])  # a private character, as signs are represented
@given(ITEMS)
def test_texts_are_split_as_by_the_plain_functions(items: list[tuple[str, list[str], str]]) -> None:
    """Codes of words and pieces equal the codes of the plain functions' tokens, in order."""
    texts = [item[0] for item in items]
    languages = [item[2] for item in items]

    found = cut(texts, languages)

    for i, (text, language) in enumerate(zip(texts, languages, strict=True)):
        assert found.words.of(i) == [code_of(word) for word in words(text, language)]
        assert found.pieces.of(i) == [code_of(piece) for piece in pieces(text, language)]


@settings(deadline=None)
@example([("the il x_y", ["the"], "")])
@given(ITEMS)
def test_word_metrics_equal_the_plain_forms(items: list[tuple[str, list[str], str]]) -> None:
    """EM, Match, precision, recall and F1, all of the gold answer with the highest F1."""
    pairs = pairs_of(items)
    said = [words(answer, language) for answer, _, language in items]
    wanted = [[words(label, language) for label in gold] for _, gold, language in items]
    top = [
        max((overlap(s, w) for w in ws), key=lambda one: one.f1)
        for s, ws in zip(said, wanted, strict=True)
    ]

    assert values("EM", pairs) == [
        float(bool(s) and s in w) for s, w in zip(said, wanted, strict=True)
    ]
    assert values("Match", pairs) == [float(occurs(a, g, lang)) for a, g, lang in items]
    assert values("F1", pairs) == pytest.approx([one.f1 for one in top])
    assert values("Precision", pairs) == pytest.approx([one.precision for one in top])
    assert values("Recall", pairs) == pytest.approx([one.recall for one in top])


@settings(deadline=None)
@given(ITEMS)
def test_published_forms_equal_the_plain_ones(items: list[tuple[str, list[str], str]]) -> None:
    """Tokens of SQuAD's script and of Google's ROUGE, and the figures that count them."""
    pairs = pairs_of(items)
    texts = [item[0] for item in items]
    said = [squad_words(answer) for answer in texts]
    wanted = [[squad_words(label) for label in gold] for _, gold, _ in items]
    top = [
        max((overlap(s, w) for w in ws), key=lambda one: one.f1)
        for s, ws in zip(said, wanted, strict=True)
    ]

    squad, google = squad_tokens(texts), ascii_tokens(texts)
    for i, text in enumerate(texts):
        # NUL separates texts in a block; within one, a character that is in no word replaces it.
        assert squad.of(i) == [token_code(word.replace("\0", "\uffff")) for word in said[i]]
        assert google.of(i) == [token_code(piece) for piece in ascii_pieces(text)]
    assert values("F1(variant=squad)", pairs) == pytest.approx([one.f1 for one in top])
    assert values("ROUGE-L(variant=mtrag)", pairs) == pytest.approx(
        [
            rates(lcs_length(a, g), len(a), len(g)).f1
            for a, g in ((ascii_pieces(a), ascii_pieces(gold[0])) for a, gold, _ in items)
        ]
    )


@settings(deadline=None)
@given(ITEMS)
def test_rouge_equals_the_plain_forms(items: list[tuple[str, list[str], str]]) -> None:
    """ROUGE-1, ROUGE-2 and ROUGE-L, the best of several gold answers."""
    pairs = pairs_of(items)

    for n, name in ((1, "ROUGE-1"), (2, "ROUGE-2")):
        expected = [
            max(overlap(grams(pieces(a, lang), n), grams(pieces(g, lang), n)).f1 for g in gold)
            for a, gold, lang in items
        ]
        assert values(name, pairs) == pytest.approx(expected)
    expected = [
        max(
            rates(lcs_length(said, part), len(said), len(part)).f1
            for part in (pieces(label, lang) for label in gold)
        )
        for said, gold, lang in ((pieces(a, lang), gold, lang) for a, gold, lang in items)
    ]
    assert values("ROUGE-L", pairs) == pytest.approx(expected)


@pytest.mark.parametrize("size", [63, 64, 65, 200])
def test_gold_answers_may_be_longer_than_a_machine_word(size: int) -> None:
    """Long gold answers are found, not found if a token is missing, and compared in order."""
    gold = [f"w{i}" for i in range(size)]
    shuffled = [*gold[size // 2 :], *gold[: size // 2]]
    texts = [f"so {' '.join(gold)} then", " ".join(gold[:-1]), " ".join(shuffled)]
    pairs = pairs_of([(text, [" ".join(gold)], "") for text in texts])

    assert values("Match", pairs) == [1.0, 0.0, 0.0]
    assert values("EM", pairs) == [0.0, 0.0, 0.0]
    assert pairs.pieces.longest_common.tolist() == [size, size - 1, (size + 1) // 2]


def test_every_known_key_is_found_in_a_full_table() -> None:
    """100,000 known keys in 65,536 places, many of which differ in their upper bits alone."""
    known = np.unique(np.arange(100_000, dtype=np.uint64) << np.uint64(44))
    keys = np.concatenate([known[::2], known[:10] + np.uint64(1)])

    position, identity = _look_up(keys, known)

    assert position.tolist() == list(range(len(known[::2])))
    assert (known[identity] == keys[position]).all()


def test_repeated_tokens_are_counted_as_a_multiset() -> None:
    """A token counts as often as both texts contain it."""
    pairs = pairs_of([("b b b a c", ["b b d"], "")])

    assert pairs.words.shared.tolist() == [2]


def test_every_function_word_has_its_own_slot() -> None:
    """A word in the slot of another one would not be found."""
    *_, kinds = function_words.__wrapped__()

    assert np.count_nonzero(kinds) == len({*NOT_ENGLISH, *ARTICLES, *ENGLISH})


def test_an_initial_is_no_article() -> None:
    """Nor is it in the arrays."""
    for text in ("Samuel A. Jackson", "Vitamin A.", "a cat"):
        assert cut([text]).words.of(0) == [code_of(word) for word in words(text)]
    assert len(cut(["Samuel A. Jackson"]).words.of(0)) == 3


def test_a_zero_byte_in_a_text_is_a_blank() -> None:
    """Texts are joined by zero bytes; one inside of a text must not change the other texts."""
    texts = ["the \0 cat", "0\u00a10", "$\0"]

    found = cut(texts)

    for i, text in enumerate(texts):
        assert found.words.of(i) == [code_of(word) for word in words(text)]
    assert len(found.words.of(1)) == 1
