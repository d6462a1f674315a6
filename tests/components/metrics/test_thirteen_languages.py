"""Gold answers in languages without a shared data set score 1 against their own passage."""

from __future__ import annotations

import pytest

from ragstone.components.metrics.score import score_answers
from ragstone.core.registry import create
from ragstone.core.schemas import table_to_scores
from ragstone.data.corpus import Corpus
from ragstone.protocols import Services
from ragstone.types import Passage, Prediction, Query, Search

PASSAGES = {
    "ko": "이 연락선은 1911년에 부산에서 건조되었으며, 선장은 김민수이다. 길이는 42미터이다.",
    "th": "เรือข้ามฟากลำนี้สร้างขึ้นในปี พ.ศ. 2454 ที่จังหวัดสงขลา และกัปตันชื่อสมชาย ใจดี",
    "fi": "Lautta rakennettiin vuonna 1911 Turussa, ja sen kapteeni on Aino Mäkelä, 42-vuotias.",
    "fr": "Le bac fut construit en 1911 à Saint-Malo ; son capitaine s'appelle l'abbé Noël d'Ys.",
    "pt": "A balsa foi construída em 1911 em São João; o capitão é Inês de Araújo (42 anos).",
}
ANSWERS = {
    "ko": ["1911년", "부산", "김민수", "42미터"],
    "th": ["2454", "พ.ศ. 2454", "จังหวัดสงขลา", "สงขลา", "สมชาย ใจดี"],
    "fi": ["1911", "Turussa", "Aino Mäkelä", "42-vuotias"],
    "fr": ["1911", "Saint-Malo", "l'abbé Noël d'Ys", "Noël"],
    "pt": ["1911", "São João", "Inês de Araújo", "42 anos"],
}
QUESTIONS = {
    "ko": "연락선 선장은 누구인가?",
    "th": "กัปตันเรือข้ามฟากชื่ออะไร",
    "fi": "Kuka on lautan kapteeni?",
    "fr": "Comment s'appelle le capitaine du bac ?",
    "pt": "Quem é o capitão da balsa?",
}
CASES = [(language, answer) for language, held in ANSWERS.items() for answer in held]


@pytest.mark.parametrize(("language", "answer"), CASES)
def test_no_wrong_zero(language: str, answer: str) -> None:
    """Every gold answer is found in its passage, with the label of the language and without."""
    for labels in ({"language": language}, {}):
        queries = [Query("q", "?", gold_answers=(answer,), labels=labels)]
        given = [Prediction("q", PASSAGES[language])]
        table = score_answers(["Match", "Recall", "char3-recall"], queries, given)

        assert [(s.metric, s.value) for s in table_to_scores(table)] == [
            ("Match", 1.0),
            ("Recall", 1.0),
            ("char3-recall", 1.0),
        ]


@pytest.mark.parametrize("language", PASSAGES)
def test_bm25_finds_the_passage(language: str) -> None:
    """Among the passages of all five languages."""
    corpus = Corpus.from_passages([Passage(code, text) for code, text in PASSAGES.items()])
    retriever = create("retrievers", "bm25", where="retriever")
    (found,) = retriever.retrieve([Search("q", QUESTIONS[language])], Services(corpus=corpus))

    assert found.value.passage_ids[0] == language
