"""The metric `refusal` recognises refusals by their phrases."""

from __future__ import annotations

import pytest

from ragstone.components.metrics.refusal import refusal


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "I\u2019m not sure.",
        "IDK",
        "The provided documents do not mention when it was built.",
        "There is no information on that. Would you like to ask something else?",
        "I cannot answer this question.",
        "That cannot be determined from the text.",
        "Je ne sais pas.",
        "Ich weiß es nicht.",
        "Я не знаю.",
        "我不知道。",
        "わかりません。",
        "En tiedä.",
        "Leider kann ich nicht beantworten, wann das war.",
        "Сейчас нет ответа: я не знаю.",
        "لا أعرف.",
        "ฉันไม่สามารถตอบคำถามนี้ได้",
        "그에 대한 정보가 없습니다.",
    ],
)
def test_refusals_are_recognised(answer: str) -> None:
    """Sentences that decline to answer, in several languages."""
    assert refusal(answer) == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "In 1912.",
        "She does not eat meat.",
        "The contract does not expire in 2020 but in 2021.",
        "我不知道。" + "这座城市位于海边的平原上,有许多古老的桥梁和教堂。" * 2,
        "The text does not say. But " + "boats are put in below the old dam in the spring " * 2,
    ],
)
def test_answers_are_not_refusals(answer: str) -> None:
    """Negations about other things, empty answers, and long answers after a refusal."""
    assert refusal(answer) == 0.0
