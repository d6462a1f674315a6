"""Published answers with grades of people, as ratings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from ragstone.data.readers.graded_answers import (
    read_begin,
    read_nq_open,
    read_ragchecker,
    read_truthfulqa,
)


def test_the_grades_of_truthfulqa(shared_data: Callable[[str], Path]) -> None:
    """Truthfulness and informativeness of three models' answers to 100 questions."""
    held = read_truthfulqa([shared_data("truthfulqa") / "human_judgements.en.csv"])

    assert Counter(one.property for one in held.ratings)["truthfulness"] == 300
    assert len({item.system for item in held.texts}) == 3
    assert len(held.queries) == 100
    assert held.ratings[0].line > 1


def test_the_labels_of_begin(shared_data: Callable[[str], Path]) -> None:
    """180 of 430 responses are fully attributable."""
    held = read_begin([shared_data("begin") / "begin_dev_wow.tsv.gz"])

    assert Counter(one.value for one in held.ratings) == {"yes": 180, "no": 250}
    assert all(text.passages for text in held.texts.values())


def test_the_preferences_of_ragchecker(shared_data: Callable[[str], Path]) -> None:
    """280 pairs with two labels each, and the difference of its own scores."""
    held = read_ragchecker([shared_data("ragchecker") / "human_labeled_data.json.gz"])

    assert Counter(one.property for one in held.ratings)["overall"] == 560
    assert all(item.against for item in held.texts)
    assert len(held.metrics["RAGChecker"]) == 280


def test_verdicts_of_two_files_of_nq_open(tmp_path: Path) -> None:
    """Equal lines of two files are different predictions."""
    row = {"question": "who?", "answer": ["Ann"], "poss_correct_predictions": ["Ann B."]}
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for path in paths:
        path.write_text(json.dumps(row) + "\n")

    held = read_nq_open(paths)

    assert [one.value for one in held.ratings] == [0.5, 0.5]
    assert len(held.texts) == 2
