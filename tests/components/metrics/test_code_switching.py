"""code-switching: planted mixtures in five languages, and texts in one language."""

# ruff: noqa: RUF001 -- letters of other scripts are meant

from __future__ import annotations

import pytest

from ragstone.components.metrics.code_switching import CodeSwitching, switched_share
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score import score_answers
from ragstone.core.schemas import table_to_scores
from ragstone.types import Prediction, Query

ENGLISH = "The ferry to the island leaves every full hour from April to October."  # 13 words
PURE = {
    "de": "Die Fähre zur Insel fährt von April bis Oktober an jedem Tag zur vollen Stunde.",
    "ar": "تغادر العبارة إلى الجزيرة كل ساعة من أبريل إلى أكتوبر، وتعود في المساء.",
    "ru": "Паром на остров отправляется каждый час с апреля по октябрь, даже в воскресенье.",
    "el": "Το φέρι για το νησί φεύγει κάθε ώρα από τον Απρίλιο μέχρι τον Οκτώβριο, και το βράδυ.",
    "es": "El transbordador a la isla sale cada hora desde abril hasta octubre, también de noche.",
}
NAMES = (
    "В 2016 году Denver Broncos победили со счётом 24:10 [1], см. https://example.org/news и 5 km."
)


@pytest.mark.parametrize("language", PURE)
def test_planted_mixtures(language: str) -> None:
    """A pure text has 0; a foreign sentence counts with all its words, on either side."""
    words = len(PURE[language].replace("24:10", "").split())

    assert switched_share(PURE[language]) == 0.0
    assert switched_share(f"{PURE[language]} {ENGLISH}") == pytest.approx(
        min(13, words) / (13 + words)
    )
    assert switched_share(f"{ENGLISH} {ENGLISH} {PURE[language]}") == pytest.approx(
        words / (26 + words)
    )


def test_the_shortest_sentence_with_a_language() -> None:
    """It has 50 characters."""
    sentence = "Die Fähre zur Insel fährt jeden Tag zur Abendzeit."
    assert switched_share(f"{ENGLISH} {sentence}") == 9 / 22
    assert switched_share(f"{ENGLISH} {sentence.replace(' zur A', ' zu A')}") == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NAMES, 0.0),
        ("Паром ходит every single hour с апреля по октябрь.", 3 / 9),
        ("渡轮从四月到十月每小时开往那个岛屿。", 0.0),
        ("渡轮从四月到十月每小时 depart 开往那个岛屿。", 1 / 18),
        ("フェリーは四月から十月まで毎時間、島へ向かって出発します。", 0.0),
        ("도선(渡船)은 사월부터 시월까지 매시간 섬으로 떠납니다.", 0.0),
        ("The word for ferry is 渡轮 in the language of the island.", 2 / 13),
        ("12:30, 14:30, 16:30 and so on", 0.0),
        ("", 0.0),
    ],
)
def test_words_in_another_script(text: str, expected: float) -> None:
    """Names, numbers, citations, addresses and units have no language."""
    assert switched_share(text) == pytest.approx(expected)


def test_main_part_in_short_sentences() -> None:
    """The one sentence that is long enough to be recognised is not the main part for that."""
    short = "Паром идёт на остров. Он идёт каждый час. Он большой и белый. Его любят дети. " * 2
    share = switched_share(f"{short}{ENGLISH}")

    assert share == pytest.approx(13 / (13 + 30))


def test_short_answers_do_not_count() -> None:
    """The metric has no value for them; lower is better."""
    queries = [Query("a", "Wann?"), Query("b", "Wann?")]
    given = [Prediction("a", "April"), Prediction("b", PURE["de"])]
    metric = parse_metric("code-switching")
    found = [(s.value, s.reason) for s in table_to_scores(score_answers([metric], queries, given))]

    assert found == [(None, "the answer is too short to tell"), (0.0, "")]
    assert (CodeSwitching.direction, CodeSwitching.range) == ("lower", (0.0, 1.0))
