"""SQuAD-form files: v1.1, v2 and the many sets written like them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.readers.squad import SquadReader
from ragstone.errors import DatasetError
from ragstone.types import Passage


def question(number: int, **more: Any) -> dict[str, Any]:
    """Return a question with two answers of the same text."""
    answers = [{"text": "yes", "answer_start": 0}, {"text": "yes", "answer_start": 9}]
    return {"id": f"s{number}", "question": f"Is it {number}?", "answers": answers, **more}


def document(*articles: Any) -> dict[str, Any]:
    """Return a file of some articles, each given as its paragraphs: (context, questions)."""
    return {
        "version": "1.1",
        "data": [
            {
                "title": f"Title_{number}",
                "paragraphs": [{"context": context, "qas": qas} for context, qas in paragraphs],
            }
            for number, paragraphs in enumerate(articles, start=1)
        ],
    }


def read_error(folder: Path, content: Any) -> str:
    """Return the message with which a document is refused."""
    path = folder / "set.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DatasetError) as caught:
        SquadReader(path).read()
    return str(caught.value)


def test_paragraphs_are_passages_and_equal_ones_are_one(tmp_path: Path) -> None:
    """Ids contain article and paragraph; a repeated text keeps its first id."""
    path = tmp_path / "set.v1.json"
    content = document(
        [("A", [question(1)]), ("B", [])], [("A", [question(2)]), ("C", [question(3)])]
    )
    path.write_text(json.dumps(content))
    dataset = SquadReader(path).read()
    assert dataset.name == "set.v1"
    assert dataset.corpus.passage_ids == ["1-1", "1-2", "2-2"]
    assert dataset.corpus["2-2"] == Passage("2-2", "C", "Title 2", "Title_2")
    assert dataset.qrels == {"s1": {"1-1": 1}, "s2": {"1-1": 1}, "s3": {"2-2": 1}}
    assert dataset.queries[0].gold_answers == ("yes",)
    assert dataset.queries[0].labels == {}


def test_labels_titles_and_answers(tmp_path: Path) -> None:
    """Without a title, the number of the article is the document; labels stay with their row."""
    questions = [
        {**question(1), "answers": [{"text": "no"}, {"text": "yes"}, {"text": "no"}]},
        {**question(2), "is_impossible": False},
        {"id": "s3", "question": "Where?", "is_impossible": None, "answers": []},
        {**question(4), "is_impossible": True, "answerability": "partly"},
    ]
    article = {"paragraphs": [{"context": "A", "qas": questions, "page": 3}], "source": "wiki"}
    path = tmp_path / "set.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"data": [{"paragraphs": []}, article]}).encode()))

    dataset = SquadReader(path).read()

    assert dataset.name == "set"
    passage = Passage("2-1", "A", "", "2", {"source": "wiki", "page": 3})
    assert dataset.corpus["2-1"] == passage
    first, second, third, fourth = dataset.queries
    assert (first.gold_answers, first.labels) == (("no", "yes"), {})
    assert (second.gold_answers, second.labels) == (("yes",), {"answerability": "answerable"})
    assert (third.gold_answers, third.labels) == ((), {})
    assert fourth.labels == {"answerability": "partly"}
    assert dataset.qrels["s4"] == {"2-1": 0}


def test_impossible_questions_are_unanswerable(tmp_path: Path) -> None:
    """v2: the query is labelled, has no gold answer, and its paragraph has grade 0."""
    qas = [
        question(1, is_impossible=False, level="easy"),
        question(2, is_impossible=True, plausible_answers=[{"text": "no"}]),
    ]
    path = tmp_path / "set.json"
    path.write_text(json.dumps(document([("A", qas)])))
    possible, impossible = (dataset := SquadReader(tmp_path).read()).queries
    assert possible.labels == {"answerability": "answerable", "level": "easy"}
    assert impossible.gold_answers == ()
    assert impossible.labels == {
        "answerability": "unanswerable",
        "plausible_answers": '[{"text":"no"}]',
    }
    assert dataset.qrels == {"s1": {"1-1": 1}, "s2": {"1-1": 0}}


BAD: list[tuple[Any, str]] = [
    ([1], "does not have the SQuAD form: expected an object with a list 'data' of articles"),
    ({"data": {}}, "does not have the SQuAD form"),
    ({"data": []}, "contains no question"),
    ({"data": ["x"]}, "set.json, article 1: expected a JSON object, found 'x'"),
    ({"data": [{"title": "T"}]}, "article 1: the field 'paragraphs' must be a list, found None"),
    (document([("A", [question(1), {"id": "s2", "question": ""}])]), "paragraph 1: question 2: "),
    (document([(7, [])]), "article 1: paragraph 1: the field 'context' must be text, found 7"),
    (document([("A", [question(1, answers=["x"])])]), "question 1: answer 1: expected a JSON obj"),
    (
        document([("A", [question(1), question(2)])], [("B", [question(2)])]),
        "the query id 's2' occurs in article 1, paragraph 1, question 2 already",
    ),
]


@pytest.mark.parametrize(("content", "expected"), BAD, ids=[case[1] for case in BAD])
def test_bad_files_are_refused_by_place_and_value(
    content: Any, expected: str, tmp_path: Path
) -> None:
    """Each fault names the article, the paragraph and the question."""
    assert expected in read_error(tmp_path, content)


def test_a_folder_must_contain_one_file(tmp_path: Path) -> None:
    """With several files, or none, the message lists the files found."""
    with pytest.raises(DatasetError, match=r"must contain one \.json file .* found none"):
        SquadReader(tmp_path).read()
    for name in ("a.json", "b.json.gz"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(DatasetError, match=r"found a\.json, b\.json\.gz; name one"):
        SquadReader(tmp_path).read()
    with pytest.raises(DatasetError, match="no such file"):
        SquadReader(tmp_path / "absent.json").read()
