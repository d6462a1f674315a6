"""Scores by blocks equal those of the whole files, in any order and with every kind of text."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ragstone.core.fingerprint import digest_table
from ragstone.data.gold_queries import gold_lines
from ragstone.data.readers.answer_index import AnswerIndex, NotPlain
from ragstone.data.readers.answer_lines import read_answers
from ragstone.evaluation.score_blocks import evaluate_blocks
from ragstone.evaluation.score_files import evaluate_answers
from ragstone.statistics.summary import Policy

METRICS = ["Match", "EM", "F1", "ROUGE-L", "label"]
TEXTS = ["", "...", "$", "東京 2020", "e\u0301te\u0301", "1,000 km", "the The", "a b c", "Köln"]


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def files(folder: Path, size: int = 2600) -> tuple[Path, Path]:
    """Write more than two blocks of queries, and their answers in another order."""
    draw = random.Random(3)  # noqa: S311
    gold = [
        {"_id": f"q{i}", "text": "Where?", "answers": draw.sample(TEXTS[2:], i % 3)}
        for i in range(size)
    ]
    answers: list[dict[str, object]] = [
        {"query_id": f"q{i}", "answer": draw.choice(TEXTS), "context": ["Köln am Rhein"]}
        for i in range(40, size + 9)
    ]
    answers[7]["answer"] = "東京 long word " * 90_000
    answers[8] |= {"answer": None, "reason": "timed out"}
    draw.shuffle(answers)
    return write(folder / "answers.jsonl", answers), write(folder / "gold.jsonl", gold)


@pytest.mark.parametrize("failures", ["wrong", "exclude", "bounds"])
def test_blocks_equal_the_whole(tmp_path: Path, failures: Policy) -> None:
    """Means, intervals, missing and extra queries, figures beside, and every row."""
    answers, gold = files(tmp_path)
    queries = [query for _, query in gold_lines(gold)]
    rows = read_answers(answers)
    whole = evaluate_answers(
        list(rows.predictions.values()),
        queries,
        METRICS,
        contexts=rows.contexts,
        failures=failures,
    )

    found = evaluate_blocks(AnswerIndex(answers), iter(queries), METRICS, failures=failures)

    assert found.to_dict() == whole.to_dict()
    assert (found.missing, found.extra) == (whole.missing, whole.extra)
    assert digest_table(found.table) == digest_table(whole.table)
    assert str(found) == str(whole)


@pytest.mark.parametrize(
    "gold",
    [
        [{"_id": "q1", "answers": ["a"]}, {"_id": "q1", "answers": ["a"]}],
        [{"_id": "q1", "answers": ["a"], "conversation": "c1"}],
        [{"_id": f"other{i}", "answers": ["a"]} for i in range(3)],
        [],
    ],
)
def test_queries_that_need_all_rows(tmp_path: Path, gold: list[dict[str, object]]) -> None:
    """Queries listed twice, in conversations, or of other ids are not read by blocks."""
    answers = write(tmp_path / "a.jsonl", [{"query_id": "q1", "answer": "a"}])
    path = write(tmp_path / "gold.jsonl", gold)
    with pytest.raises(NotPlain):
        evaluate_blocks(AnswerIndex(answers), (q for _, q in gold_lines(path)), ["EM"])
