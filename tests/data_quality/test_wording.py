"""Placeholders, pointing, unresolved and junk queries in three languages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.core import limits
from ragstone.data_quality.wording import junk, placeholder, pointing, unresolved

WORDINGS = Path(__file__).parents[2] / "benchmarks" / "doctor_wordings.json"
FINDERS: dict[str, Callable[[str], int]] = {
    "placeholder": placeholder,
    "points": pointing,
    "unresolved": unresolved,
}


@pytest.mark.parametrize("language", ["en", "zh", "ar"])
@pytest.mark.parametrize("kind", FINDERS)
def test_most_wordings_are_found(language: str, kind: str) -> None:
    """At least 8 of 10."""
    texts = json.loads(WORDINGS.read_text("utf-8"))[language][kind]

    assert sum(FINDERS[kind](text) >= 0 for text in texts) >= 8


@pytest.mark.parametrize(
    ("find", "text"),
    [
        (pointing, "Qual è l'idea principale del brano precedente?"),
        (pointing, "上記の文章の主題は何ですか"),
        (unresolved, "Quando è nato lui?"),
        (unresolved, "彼はいつ生まれましたか"),
        (placeholder, "Pagina non trovata"),
        (placeholder, "ページが見つかりません"),
        (junk, "テスト"),
    ],
)
def test_italian_and_japanese_are_known(find: Callable[[str], int], text: str) -> None:
    """One wording of each."""
    assert find(text) >= 0


@pytest.mark.parametrize(
    "text",
    [
        "Who wrote A Passage to India?",
        "when did they stop cigarette advertising on television",
        "What is the largest city in this world?",
        "who is the author of the text of the constitution",
        "彼得卢大屠杀之后哪个诗人写了《暴政的假面》",
        "谁是中国文化的代表",
        "من هو رئيس مصر؟",
        "Chi ha scritto la Divina Commedia?",
        "capital of peru",
        "ISO 9001",
        "HTTP 404 page status code meaning in search engines",
    ],
)
def test_stand_alone_queries_are_left_alone(text: str) -> None:
    """No finder has a place in them."""
    assert {find(text) for find in (pointing, unresolved, junk)} == {-1}


def test_a_long_text_is_about_a_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the maximum it is not a placeholder itself."""
    text = "The error 404 - page not found - was defined in 1992."
    assert placeholder(text) >= 0
    monkeypatch.setattr(limits, "PLACEHOLDER_CHARACTERS", 40)
    assert placeholder(text) == -1
