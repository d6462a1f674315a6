"""Contained and cut passages, and queries within passages."""

from __future__ import annotations

import pytest

from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.table_builder import judgements
from ragstone.data_quality import check, subject_of
from ragstone.data_quality.containment import check_containment, check_questions, is_cut
from ragstone.data_quality.shingles import contained_pairs, word_shingles
from ragstone.types import Passage, Query

LONG = "The old bridge crosses the river where the mill was, and every autumn its lamps are lit."


def dataset(passages: list[str], queries: list[Query]) -> Dataset:
    """Return a data set of passages p0, p1, ... and queries without judgements."""
    made = [Passage(f"p{number}", text) for number, text in enumerate(passages)]
    corpus = Corpus.from_passages(made)
    return Dataset("made", queries_to_table(queries), corpus, judgements({}))


def test_a_part_of_another_passage_is_found_once() -> None:
    """The longer one is its pair; a text like no other is not found."""
    longer = f"Long ago a ferry was here. {LONG} A toll is due, and the keeper sleeps at noon."
    (found,) = check_containment(subject_of(dataset([LONG, longer, "Bees fly far."], [])))

    assert (found.rows, found.pairs) == (("p0",), (("p0", "p1"),))


def test_a_query_with_its_answer_in_a_passage_is_found() -> None:
    """Word for word; without the answer it is not."""
    queries = [
        Query("q0", "Who keeps the old bridge in autumn?", ("Agnes",)),
        Query("q1", "Who keeps the old bridge in autumn?", ("Bo",)),
    ]
    page = "FAQ. Who keeps the old bridge in autumn? Agnes does."
    (found,) = check_questions(subject_of(dataset([LONG, page], queries)))

    assert found.rows == ("q0",)


def test_shingles_that_most_texts_have_are_not_looked_up() -> None:
    """Time stays bounded if thousands of passages share a header."""
    sets = word_shingles(["one two three four five"] * 200)

    assert contained_pairs(sets, sets) == []


@pytest.mark.parametrize("passages", [[], ["Bees fly far."], [""]])
def test_tiny_and_empty_sets_are_checked(passages: list[str]) -> None:
    """An empty corpus, one passage, an empty passage; and no query at all."""
    assert check(subject_of(dataset(passages, [])))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (f"{LONG} It was built by weavers who came", True),
        (f"{LONG} 它建于一九一二年。后来人们在桥的两边种满了", True),
        (LONG, False),
        ("TV series, episodes, and a list of people without any sentence mark", False),
    ],
)
def test_a_cut_passage_has_sentences_and_no_end(text: str, cut: bool) -> None:
    """A list has no sentence to cut."""
    assert is_cut(text) is cut
