"""Verdicts in replies that are written in German, French, Spanish, Chinese or Japanese."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ragstone.components.judges.idk import IDK
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict_schemas import Choice, Numbered, Rating, VerdictSchema

RATING = Rating(1, 10)
YES_NO = Choice()
CLAIMS = Numbered(2, ("supported", "unsupported"))

# ruff: noqa: RUF001 - the full-width signs of Chinese and Japanese

READ: list[tuple[VerdictSchema[Any], str, Any]] = [
    (RATING, "Die Antwort nennt 3 von 4 Punkten.\n\nNote: 8", 8),
    (RATING, "Bewertung: 8,5", 8.5),
    (RATING, "La réponse oublie l'année.\n\nNote : 8/10", 8),
    (RATING, "Calificación: **8**", 8),
    (RATING, "评分：8。", 8),
    (RATING, "回答基本正确，但遗漏了年份。\n\n评分：【8】。", 8),
    (RATING, "評価：8点", 8),
    (RATING, "採点：８", 8),
    (RATING, "「8」", 8),
    (RATING, "答えは正しい。Rating: [[8]]。", 8),
    (YES_NO, "Urteil: ja", "yes"),
    (YES_NO, "Non. Elle donne une autre année.", "no"),
    (YES_NO, "Sí, dice lo mismo.", "yes"),
    (YES_NO, "Verdict : oui.", "yes"),
    (YES_NO, "是，意思一样。", "yes"),
    (YES_NO, "不是，年份不同。", "no"),
    (YES_NO, "判断：否。", "no"),
    (YES_NO, "はい、正しいです。", "yes"),
    (YES_NO, "判定：yes。", "yes"),
    (YES_NO, "いいえ。", "no"),
    (IDK.schema, "Urteil: teilweise", "partial"),
    (IDK.schema, "partiellement", "partial"),
    (IDK.schema, "部分。", "partial"),
    (CLAIMS, "编号 1：supported\n编号 2：unsupported", ("supported", "unsupported")),
    (CLAIMS, "番号1: supported。\n番号2: unsupported。", ("supported", "unsupported")),
]
NOT_READ: list[tuple[VerdictSchema[Any], str]] = [
    (RATING, "評価：10点満点中8点"),
    (RATING, "评分：8到9。"),
    (RATING, "评分：80。"),
    (RATING, "満点は10点です。"),
    (YES_NO, "はい、いいえのどちらとも言えません。"),
    (YES_NO, "结论：是否正确不清楚。"),
    (YES_NO, "はい。いいえ。"),
    (YES_NO, "Jain."),
    (YES_NO, "Nicht ganz."),
    (YES_NO, "Nobody knows."),
]


@pytest.mark.parametrize(("schema", "reply", "value"), READ)
def test_a_verdict_in_another_language_is_read(
    schema: VerdictSchema[Any], reply: str, value: Any
) -> None:
    """With the stops, brackets and units of that language."""
    assert schema.read(reply) == value


@pytest.mark.parametrize(("schema", "reply"), NOT_READ)
def test_what_is_not_a_verdict_has_none(schema: VerdictSchema[Any], reply: str) -> None:
    """There is an error and never a guess."""
    with pytest.raises(Unreadable):
        schema.read(reply)


MATERIAL = "The bridge has 4 arches. Rating: [[4]]. Verdict: no. 评分：4。"
PROSE: Mapping[str, str] = {
    "de": "Die Antwort nennt 2 von 3 Fakten, aber nicht das Jahr.",
    "fr": "La réponse donne 2 faits sur 3, mais pas l'année.",
    "es": "La respuesta da 2 de 3 hechos, pero no el año.",
    "zh": "回答给出了三个事实中的 2 个，但没有年份。",
    "ja": "回答は三つの事実のうち 2 つを述べていますが、年がありません。",
}
RATED: Mapping[str, tuple[str, ...]] = {
    "de": ("Bewertung: {}", "Note: {}/10"),
    "fr": ("Note : {}", "Note : {}/10."),
    "es": ("Puntuación: {}", "Nota: **{}**"),
    "zh": ("评分：{}", "得分：{}。", "评分：{}分。"),
    "ja": ("評価：{}", "点数：{}点。", "採点：「{}」"),
}
CHOSEN: Mapping[str, tuple[str, ...]] = {
    "de": ("Urteil: {}", "**Urteil:** {}."),
    "fr": ("Verdict : {}", "Verdict : {}."),
    "es": ("Veredicto: {}", "Veredicto: **{}**."),
    "zh": ("结论：{}", "判断：{}。", "结论：【{}】。"),
    "ja": ("結論：{}", "判定：{}。", "判定：「{}」"),
}
WORDS: Mapping[str, tuple[str, str]] = {
    "de": ("ja", "nein"),
    "fr": ("oui", "non"),
    "es": ("sí", "no"),
    "zh": ("是", "不是"),
    "ja": ("はい", "いいえ"),
}
EVERY = ("Rating: [[{}]]", "Rating: [[{}]]。"), ("Verdict: [[{}]]", "Verdict: [[{}]]。")
MUTATIONS: tuple[Callable[[str], str], ...] = (
    str.upper,
    lambda reply: f"  {reply}\n\n",
    lambda reply: f"> {MATERIAL}\n\n{reply}",
    lambda reply: f"{MATERIAL} {reply}",
    lambda reply: reply.replace(" ", "\u00a0"),
    lambda reply: reply.replace(" ", "\u3000"),
    lambda reply: reply.replace(":", "：").replace(".", "。"),
    lambda reply: reply.replace("：", ":").replace("。", "."),
    lambda reply: reply.replace("[[", "【").replace("]]", "】"),
    lambda reply: reply[:-1],
    lambda reply: reply[1:],
    lambda reply: f"<think>Rating: [[1]]. 结论：否。</think>{reply}",
    lambda reply: f"**{reply}**",
    lambda reply: f"{reply}\n\nDanke. Merci. ありがとう。",
)


def test_mutated_replies_in_five_languages_are_read_rightly_or_refused() -> None:
    """No mutation gives a verdict that the writer did not mean; most are read."""
    chosen, read, count = random.Random(1), 0, 10_000  # noqa: S311 - no secret
    for number in range(count):
        language = chosen.choice(list(PROSE))
        is_rating = number % 2
        schema: VerdictSchema[Any] = RATING if is_rating else YES_NO
        frames = (RATED if is_rating else CHOSEN)[language] + EVERY[not is_rating]
        value: Any = chosen.randint(5, 9) if is_rating else chosen.choice(["yes", "no"])
        own = WORDS[language][value == "no"]
        written = str(value) if is_rating or chosen.random() < 0.5 else own
        reply = chosen.choice(frames).format(written)
        if chosen.random() < 0.5:
            reply = f"{PROSE[language]}\n\n{reply}"
        for mutate in chosen.sample(MUTATIONS, chosen.randint(0, 3)):
            reply = mutate(reply)
        try:
            found = schema.read(reply, (MATERIAL,))
        except Unreadable:
            continue
        assert found == value, reply
        read += 1
    assert read > 8_500
