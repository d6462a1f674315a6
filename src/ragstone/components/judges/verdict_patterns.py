"""The words and signs around a verdict, in the languages that judges write.

A judge may be prompted in German, French, Spanish, Chinese or Japanese, whose stops and brackets
differ. An unknown word leaves a reply unread, and never gives it another value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

YES_NO: Final[Mapping[str, tuple[str, ...]]] = {
    "yes": ("yes", "true", "oui", "ja", "sí", "si", "sì", "sim", "да", "是", "はい", "예"),
    "no": ("no", "false", "non", "nein", "não", "нет", "否", "不是", "いいえ", "아니오"),
}
"""Verdict -> its spellings, also those of a judge that writes in another language."""

_RATING_WORDS: Final = (
    "rating|score|grade|bewertung|note|puntuación|calificación|nota|punteggio|"
    "评分|得分|分数|得点|評価|点数|採点"
)
_VERDICT_WORDS: Final = (
    "verdict|answer|output|label|judgment|judgement|decision|conclusion|urteil|veredicto|"
    "結論|结论|判断|判定|答案"
)
_STOPS: Final = "。！？，、；：）」』】"  # noqa: RUF001 - the full-width signs of Chinese and Japanese
"""Signs of Chinese and Japanese that may follow a verdict."""
_BRACKETS: Final = "「『【"
"""Brackets of Chinese and Japanese that may precede it."""
SURROUNDING: Final = f" \n\t.*_`'\"[](){{}}!{_STOPS}{_BRACKETS}"
_DRESS: Final = r"[\s*_`'\"]*"
_ECHO: Final = r"(?:\s+as\s+a\s+number\s+from\s+\d+\s+to\s+\d+\s+in\s+double\s+brackets)?"
"""Words of the request that small models repeat between `rating` and the number."""
_INTRODUCED: Final = (
    r"(?:\b(?:{words})" + _DRESS + r"(?:is\s*[:：]?|[:：=])" + _DRESS + r"[\[{{(<「『【]?)\s*$"  # noqa: RUF001 - the full-width colon of Chinese
)
BEFORE_RATING: Final = re.compile(
    _INTRODUCED.format(words=f"(?:{_RATING_WORDS}){_ECHO}"), re.IGNORECASE
)
BEFORE_CHOICE: Final = re.compile(_INTRODUCED.format(words=_VERDICT_WORDS), re.IGNORECASE)
ENDED: Final = re.compile(
    r"[点分]?[\s*_`'\"]*(?:[\]})>]{1,2}[\s*_`'\"]*)?"
    rf"(?:$|(?<=\n)|[.,;!?:)\]}}{_STOPS}](?!\d)|[–—-]\s)"  # noqa: RUF001 - dashes
)
"""After a verdict: the end of a line or a sentence, not a unit and not the next word."""
_BEFORE: Final = frozenset(":：=[{(<*_`'\"s" + _BRACKETS)  # noqa: RUF001 - the full-width colon of Chinese
"""The last character before a verdict that is introduced, as a quick test; `s` is that of `is`."""
_LOOKS_BACK: Final = 80
NUMBER: Final = re.compile(r"(\d+(?:[.,]\d+)?)(?:\s*(?:/|out\s+of)\s*(\d+))?")
NUMBER_ALONE: Final = re.compile(
    rf"[\s*_`'\"\[({{{_BRACKETS}]*(?:(?:" + _RATING_WORDS + r")[\s*_`]+)?"
    r"(-?\d+(?:[.,]\d+)?)(?:\s*(?:/|out\s+of)\s*(\d+))?"
    rf"[点分]?[\s*_`'\"\])}}.!{_STOPS}]*",
    re.IGNORECASE,
)
"""A whole reply that is a number, on its own or after a word such as `Rating`."""
BULLET: Final = re.compile(r"^[^\S\n]*(?:[-*•]|\(?\d+[.):])\s+(\S(?:.*\S)?)\s*$", re.MULTILINE)
NUMBERED_LINE: Final = r"^[^\w\n]*(?:[^\W\d]+\s*)?\[?#?(\d+)\]?\W+"
SENTENCE: Final = re.compile(r"[^.!?。！？\n]+")  # noqa: RUF001 - full-width signs
ENUMERATED: Final = re.compile(r"\s*、\s*")
HEAD: Final = re.compile(r"[\W_]*+([\w'*_`\"\])} ]++)(?=$|[,;:–—，；：、])")  # noqa: RUF001 - dashes, full-width signs
"""The start of a sentence up to a comma, with Markdown."""
AFTER_HEAD: Final = "*_`'\"])} "


def introduced(text: str, place: int, pattern: re.Pattern[str]) -> int | None:
    """Return the start of the words that introduce a verdict at `place`; None if there are none."""
    before = text[max(0, place - _LOOKS_BACK) : place]
    tail = before.rstrip()
    if not tail or tail[-1] not in _BEFORE:
        return None
    if tail.endswith("[["):
        return place - len(before) + len(tail) - 2
    match = pattern.search(before)
    return place - len(before) + match.start() if match else None
