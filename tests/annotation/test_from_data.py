"""Items of the sample data set."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.annotation.from_data import DataChoice, data_items, sampled
from ragstone.annotation.schemes import TaskName
from ragstone.annotation.tasks import scheme_of
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Ranking

SAMPLE = load_dataset("sample")
FIRST = SAMPLE.queries[0].query_id


def ids(task: TaskName, choice: DataChoice, scheme: str = "") -> list[str]:
    """Return the ids of the items of the sample."""
    asked = scheme_of(task, scheme, Path())
    return [one.item_id for one in data_items(SAMPLE, task, asked, choice)]


def test_each_judged_passage_of_a_query_is_an_item() -> None:
    """Support and relevance are stated per pair."""
    pairs = [f"{q} {p}" for q, held in SAMPLE.qrels.items() for p in held]

    assert sorted(ids("support", DataChoice())) == sorted(pairs)
    assert ids("labels", DataChoice()) == ids("support", DataChoice())


def test_a_run_and_a_list_of_pairs_choose_the_passages() -> None:
    """Top passages of a run; pairs keep how they were drawn."""
    passages = SAMPLE.corpus.passage_ids[:3]
    run = {FIRST: Ranking(tuple(passages), (3.0, 2.0, 1.0))}
    assert ids("support", DataChoice(run=run, top=2)) == [f"{FIRST} {p}" for p in passages[:2]]

    drawn = {FIRST: {passages[2]: Inclusion(0.25, 2)}}
    choice = DataChoice(pairs=drawn)
    (item,) = data_items(SAMPLE, "support", scheme_of("support", "", Path()), choice)
    assert item.inclusion == Inclusion(0.25, 2)

    with pytest.raises(DatasetError, match="no passage 'nowhere'"):
        ids("support", DataChoice(pairs={FIRST: {"nowhere": None}}))


def test_taxonomies_and_validation_are_per_query() -> None:
    """The gold passages are the context, and a sample has queries in their order."""
    some = sampled(SAMPLE.queries, 7, seed=3)
    wanted = [query.query_id for query in some]

    for task, scheme in (("labels", "know-your-rag"), ("validation", ""), ("conversation", "")):
        assert ids(task, DataChoice(limit=7, seed=3), scheme) == wanted  # type: ignore[arg-type]


def test_nuggets_are_the_parts_of_their_query() -> None:
    """They leave the labels of the query, which are shown nowhere else."""
    data = Dataset.from_records(
        queries=[
            {
                "query_id": "q",
                "text": "When did it sink?",
                "vital_nuggets": ["in 1912"],
                "okay_nuggets": ["at night", "in 1912"],
            }
        ]
    )
    (item,) = data_items(data, "nuggets", scheme_of("nuggets", "", Path()), DataChoice())

    assert item.parts == ("in 1912", "at night")
    assert item.query.labels == {}


@pytest.mark.parametrize("task", ["ratings", "pairwise", "causes"])
def test_answers_are_not_in_a_data_set(task: TaskName) -> None:
    """The error names where answers are."""
    with pytest.raises(ConfigError, match="--experiment"):
        ids(task, DataChoice())
