"""refusal: whether the system declined to answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ragstone.components.metrics.base import AnswerMetric, Direction
from ragstone.text.scripts import is_unspaced

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values

_NOT: Final = (
    r"(?:do(?:es)? not|don't|doesn't|did not|didn't|cannot|can not|can't|could not|couldn't)"
)
_SOURCE: Final = (
    r"(?:context|passages?|documents?|text|texts|information|article|sources?|excerpts?|content)"
)
_UNABLE: Final = rf"(?:{_NOT}|not able to|unable to|sorry, but i {_NOT})"
_DO: Final = r"(?:answer|find|determine|provide|tell|say|locate|be sure)"
_SAY: Final = (
    r"(?:contain|mention|provide|specify|say|state|include|give|answer|address|discuss|have|offer|"
    r"indicate|name|tell|cover)"
)
_SAID: Final = r"(?:mentioned|provided|specified|stated|given|included|available|found|addressed)"
_SIGNS: Final = re.compile(
    "|".join(
        (
            r"\bi (?:really |honestly )?(?:do not|don't) (?:have|know|see|find)\b",
            rf"\b(?:i|we)(?:'m| am| are)? {_UNABLE} {_DO}\b",
            r"\b(?:i'm|i am|we are) (?:unable|not able) to\b",
            r"\b(?:i'm|i am) not sure\b",
            r"^\W*(?:i'm|i am) sorry\W*$",
            r"\b(?:cannot|can't|can not|could not) be (?:answered|determined|found|inferred)\b",
            rf"\b{_SOURCE}\b[^.?!]{{0,60}}\b{_NOT} (?:\w+ ){{0,2}}{_SAY}\b",
            rf"\b(?:no|not enough|insufficient|lack of) (?:\w+ ){{0,3}}{_SOURCE}\b",
            rf"\b(?:is|are|was|were) not (?:\w+ )?{_SAID}\b[^.?!]{{0,40}}\b{_SOURCE}\b",
            r"\bthere is no (?:mention|information|answer|evidence)\b",
            r"^\W*(?:idk|unknown|unanswerable|no answer|not answerable|n/a|not stated)\W*$",
            # French, German, Spanish, Italian, Portuguese, Finnish
            r"\bje ne (?:sais|peux|trouve|dispose)\b",
            r"\bje n'ai (?:pas|aucune) (?:assez )?(?:d')?informations?\b",
            r"\bich (?:weiß|kann|finde) (?:es |das |dies |diese frage )?nicht\b",
            r"\bkann ich (?:leider )?nicht beantworten\b",
            r"\b(?:ich habe|habe ich) (?:dazu |leider )?keine (?:\w+ )?informationen\b",
            r"\bno (?:lo )?(?:sé|puedo responder|tengo información|encuentro)\b",
            r"\bnon (?:lo )?(?:so|posso rispondere|ho informazioni)\b",
            r"\bnão (?:sei|posso responder|tenho informaç)",
            r"\ben (?:tiedä|(?:voi|osaa|pysty) vastata)\b",
            r"\bminulla ei ole (?:\w+ ){0,2}tietoa?\b",
            # Russian, Arabic, Thai
            r"я не знаю|не могу ответить|меня нет (?:\w+ )?(?:информации|сведений|данных)",
            r"لا (?:أستطيع|يمكنني) الإجابة|لا (?:أعرف|أعلم)\b|ليست? لدي (?:أي )?معلومات",
            r"ตอบไม่ได้|ไม่สามารถตอบ|ไม่ทราบ|(?:ฉัน|ผม)ไม่รู้|ไม่มีข้อมูล",
            # Chinese, Japanese, Korean
            r"我不知道|無法回答|无法回答|不能回答|没有提到|我没有[^\u3002\uff0c]{0,8}信息",
            r"分かりません|わかりません|(?:お答え|回答)できません|答えられません|情報[はが]ありません",
            r"모르겠|알 수 없|답변?할 수 없|정보가 없",
        )
    ),
    re.IGNORECASE,
)
_CURLY: Final = "\u2019"
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[\u3002\uff01\uff1f])")
WORDS_BESIDE: Final = 15
"""Maximum words of a refusal in its other sentences; chosen on mtRAG's released responses."""


@dataclass(frozen=True)
class Refusal(AnswerMetric):
    """1 if the answer is a refusal ("I don't know", "the context does not mention it"), else 0.

    A cheap substitute for a judge: it searches for English phrases, and for the most common ones of
    twelve other languages. An answer with more than 15 words besides such a sentence is not a
    refusal; in scripts without spaces, two characters count as a word. An empty answer gives 0.

    Formula: 1 if a phrase of refusal occurs, and few other words.

    Source: Ragstone's own rule (2026).

    Trap: a refusal in other words is not found.
    """

    name: ClassVar[str] = "refusal"
    graded: ClassVar[bool] = False
    direction: ClassVar[Direction] = "neutral"
    description: ClassVar[str] = (
        "1 if the system declined to answer, else 0. Good if the question has no answer and bad "
        "if it has one, so no value is marked as best."
    )
    requires: ClassVar[frozenset[str]] = frozenset()

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        return np.array([refusal(answer) for answer in pairs.answers], float)


def refusal(answer: str) -> float:
    """Return 1 if an answer is a refusal, else 0.

    >>> refusal("I don't have enough information."), refusal("She does not eat meat.")
    (1.0, 0.0)
    """
    sentences = _SENTENCE_END.split(answer.replace(_CURLY, "'").strip())
    beside = [sentence for sentence in sentences if not _SIGNS.search(sentence)]
    refused = len(beside) < len(sentences)
    return float(refused and sum(map(_words, beside)) <= WORDS_BESIDE)


def _words(sentence: str) -> int:
    return len(sentence) // 2 if is_unspaced(sentence) else len(sentence.split())
