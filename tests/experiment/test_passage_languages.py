"""The table of the languages of gold and ranked passages."""

from __future__ import annotations

from ragstone.core.schemas import columns, rankings_to_table
from ragstone.core.stored_table import StoredTable
from ragstone.data.dataset import Dataset
from ragstone.experiment.passage_languages import passage_languages_table
from ragstone.types import Ranking

RUSSIAN = "Паром Alba был построен в 1802 году и каждый день ходит на остров."


def dataset(**labels: str) -> Dataset:
    """Return a data set of three passages, of which the first has labels."""
    return Dataset.from_records(
        queries=[{"query_id": "q", "text": "When?"}],
        passages=[
            {"passage_id": "a", "text": "The ferry is old.", **labels},
            {"passage_id": "b", "text": RUSSIAN},
            {"passage_id": "c", "text": "It is not ranked."},
        ],
        qrels=[("q", "a", 1)],
    )


def run() -> StoredTable:
    """Return a run of one passage."""
    return StoredTable.in_memory(rankings_to_table(["q"], [Ranking(["b"], [1.0])]))


def test_labels_count_before_recognised_languages() -> None:
    """Passages that neither qrels nor runs name are left out; regions are ignored."""
    found = passage_languages_table(dataset(language="en-GB", parallel="7"), [run()])

    assert found is not None
    assert {name: [*held] for name, held in columns(found.table).items()} == {
        "passage_id": ["a", "b"],
        "language": ["en", "ru"],
        "parallel": ["7", ""],
    }


def test_without_labels_nothing_is_recognised() -> None:
    """A data set in one language costs nothing."""
    assert passage_languages_table(dataset(), [run()]) is None
