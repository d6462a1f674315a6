"""The metrics that the doctor names for a data set."""

from __future__ import annotations

import pytest

from ragstone.data.dataset import Dataset
from ragstone.data_quality import Subject, check


def needed(gold: list[str], grade: int = 1) -> str:
    """Return the sentence of the finding, or "" if there is none."""
    dataset = Dataset.from_records(
        queries=[
            {"query_id": f"q{i}", "text": f"What is number {i}?", "gold_answers": [answer]}
            for i, answer in enumerate(gold)
        ],
        passages=[{"passage_id": "p", "text": "A passage."}],
        qrels=[("q0", "p", grade), ("q1", "p", 1)],
    )
    found = [f.what for f in check(Subject(dataset)) if f.check == "metrics/needed"]
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("gold", "grade", "named"),
    [
        (["yes", "no", "Yes."] * 5, 1, "label(yes, no)"),
        (["1,500 km", "5 January 2020", "Paris", "3"], 1, "numeric: 3 of 4"),
        (["a b c d e f g h i j k l m n", "Paris"], 1, "ROUGE-L or a judge: 1 of 2"),
        (["東京都", "北京"], 1, "chrF or char3-recall"),
        (["Paris", "Rome"], 2, "grades up to 2"),
        (["Paris", "Rome"], 0, "bpref"),
        (["Paris", "Rome"], 1, ""),
    ],
)
def test_a_data_set_gets_the_metrics_that_it_needs(gold: list[str], grade: int, named: str) -> None:
    """One finding, or none for short phrases with judgements of 1."""
    found = needed(gold, grade)

    assert named in found
    assert bool(found) is bool(named)
