"""Passages with the answer and without a judgement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.data_quality.test_containment import LONG, dataset

from ragstone.core import limits
from ragstone.data.load import load_dataset
from ragstone.data.table_builder import judgements
from ragstone.data_quality import subject_of
from ragstone.data_quality.unjudged import check_difficulty, check_unjudged
from ragstone.types import Query


def test_a_hidden_positive_is_proposed() -> None:
    """Short answer: the passage has it and the query's words. Long answer: runs of its words."""
    queries = [
        Query("q0", "Which bridge crosses the river at the mill?", ("old bridge",)),
        Query("q1", "What happens?", ("every autumn its lamps are lit and bees fly far over",)),
    ]
    made = dataset([LONG, "Bees fly far over hills.", "Nothing is here."], queries)
    made = replace(made, qrel_table=judgements({("q1", "p1"): 1}))
    (found,) = check_unjudged(subject_of(made))

    assert found.pairs == (("q0", "p0"), ("q1", "p0"))
    assert found.remedy == "person"


def test_a_judged_passage_is_never_proposed() -> None:
    """Not even one that is judged as not relevant."""
    queries = [Query("q0", "Which bridge crosses the river at the mill?", ("old bridge",))]
    made = replace(dataset([LONG], queries), qrel_table=judgements({("q0", "p0"): 0}))

    assert not list(check_unjudged(subject_of(made)))


def test_only_a_part_of_many_queries_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """At equal distances."""
    monkeypatch.setattr(limits, "SEARCHED_QUERIES", 2)
    queries = [Query(f"q{number}", "old bridge") for number in range(5)]
    qrels = judgements({(f"q{number}", "p0"): 1 for number in range(5)})
    (found,) = check_difficulty(subject_of(replace(dataset([LONG], queries), qrel_table=qrels)))

    assert (found.of, found.count) == (2, 0)


def test_hidden_judgements_of_mtrag_are_proposed(shared_data: Callable[[str], Path]) -> None:
    """One of five positives of one domain: a third or more come back."""
    whole = load_dataset(f"mtrag({shared_data('mtrag')}, domains=govt)")
    positive = sorted((q, p) for q, grades in whole.qrels.items() for p in grades)
    gone = set(positive[::5])
    kept = judgements({pair: 1 for pair in positive if pair not in gone})
    (found,) = check_unjudged(subject_of(replace(whole, qrel_table=kept)))

    assert len(gone & set(found.pairs)) >= len(gone) / 3
