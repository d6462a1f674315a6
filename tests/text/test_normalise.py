"""Words and pieces in difficult cases, compared with the released forms."""

from __future__ import annotations

import pytest
from tests.support import answer_value

from ragstone.components.metrics.published_normalisers import squad_normal
from ragstone.text.normalise import pieces, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Eiffel Tower.", ["eiffel", "tower"]),
        ("Il y a dix ans", ["il", "y", "a", "dix", "ans"]),
        ("A. A. Milne", ["a", "a", "milne"]),
        ("「東京」。", ["東", "京"]),
        ("The The", ["the", "the"]),
        ("U.S.", ["us"]),
        ("1,000", ["1000"]),
        ("1914\u20131918", ["1914", "1918"]),
        ("\uff26\uff55\uff4c\uff4c width", ["full", "width"]),
        ("Straße", ["strasse"]),
        ("Москва!", ["москва"]),
        ("co\u00adoperate", ["cooperate"]),
        ("กทม", ["ก", "ท", "ม"]),
        ("서울은", ["서", "울", "은"]),
        ("", []),
        (" \t\n", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Only English loses its articles; signs are removed; characters of some scripts are words."""
    assert words(text) == expected


def test_a_given_language_decides_about_articles() -> None:
    """Articles are not removed if the language is given and not English."""
    assert words("a casa", "pt") == ["a", "casa"]
    assert words("a casa", "en-GB") == ["casa"]


def test_a_text_of_signs_keeps_them() -> None:
    """A dollar sign is not a per cent sign, although both are empty in SQuAD's script."""
    assert answer_value("EM", "$", ["$"]) == 1.0
    assert answer_value("EM", "$", ["%"]) == 0.0
    assert squad_normal("$") == squad_normal("%") == ""


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("He is famous.", "U.S.", 0.0),
        ("In the US.", "U.S.", 1.0),
        ("Martha", "Art", 0.0),
        ("It was Newton's law.", "Newton", 1.0),
        ("It was Newton's law.", "s", 0.0),
        ("from 1914-1918", "1914", 1.0),
        ("1000 men", "1,000", 1.0),
        ("a shared red car", "red", 1.0),
        ("a shared car", "red", 0.0),
        ("lord of rings", "The Lord of the Rings", 1.0),
        ("答案是北京市", "北京", 1.0),
        ("서울은 수도다", "서울", 1.0),
        ("anything at all", "The The", 0.0),
        ("", "x", 0.0),
    ],
)
def test_match_keeps_to_whole_words(answer: str, gold: str, expected: float) -> None:
    """A match begins and ends at a word border; scripts without spaces have none."""
    assert answer_value("Match", answer, [gold]) == expected


@pytest.mark.parametrize(
    ("answer", "gold"), [("He is famous.", "U.S."), ("Martha", "Art"), ("anything", "The The")]
)
def test_the_bergen_variant_of_match_finds_characters_anywhere(answer: str, gold: str) -> None:
    """The variant reproduces the figures of the released form, and its errors too."""
    assert answer_value("Match(variant=bergen)", answer, [gold]) == 1.0


def test_characters_of_scripts_without_spaces_are_found() -> None:
    """北京 is in 答案是北京市, one word to BERGEN's 3-grams, and none to Google's ROUGE."""
    assert answer_value("char3-recall", "答案是北京市", ["北京"]) == 1.0
    assert answer_value("char3-recall(variant=bergen)", "答案是北京市", ["北京"]) == 0.0
    assert answer_value("char3-recall", "北京", ["北京 or 北京"]) == pytest.approx(1 / 3)
    assert answer_value("char3-recall", "北京", [""]) == 0.0
    assert answer_value("ROUGE-L", "北京", ["北京"]) == 1.0
    assert answer_value("ROUGE-L(variant=mtrag)", "北京", ["北京"]) == 0.0


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("Moskva", "Moscow", 1 / 4),  # mos, osc, sco, cow
        ("aaaa", "aaaaaa", 2 / 4),  # as often as in both
        ("the UN", "UN", 1.0),
        ("UNO", "UN", 0.0),
        ("答案是北京市", "京", 1.0),
        ("答案是北京市", "北京塔", 0.0),
        ("", "Moscow", 0.0),
        ("The", "the", 1.0),
    ],
)
def test_char3_recall_is_the_share_of_the_gold_answer(answer: str, gold: str, value: float) -> None:
    """3-grams are counted as a multiset within words; a shorter word is one gram."""
    assert answer_value("char3-recall", answer, [gold]) == pytest.approx(value)
    assert answer_value("char3-recall", answer, [gold, "x"]) == pytest.approx(value)


def test_pieces_are_split_at_signs() -> None:
    """A piece is a run of letters and digits of any script, or a number; articles are pieces."""
    assert pieces("The café's 3.5 m²") == ["the", "café", "s", "3.5", "m2"]
