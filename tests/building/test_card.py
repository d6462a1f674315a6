"""Publication of a data set with its card."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone.building.card import Publication, copy_data
from ragstone.building.card_facts import Statements
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.errors import DatasetError

SMALL = Dataset.from_records(queries=[{"query_id": "q", "text": "Who?"}], name="small")


def publish(publication: Publication) -> list[str]:
    """Write the card, and return the names of its files."""
    return [path.name for path in publication.write(publication.facts(), None)]


def test_data_and_card_are_written_and_a_rerun_keeps_statements(tmp_path: Path) -> None:
    """The same data are not written again; statements can be changed one by one."""
    target = tmp_path / "öffentlich"
    assert publish(Publication(SMALL, target, Statements(licence="MIT", creator="us"))) == [
        "README.md",
        "croissant.json",
    ]
    assert load_dataset(target).queries == SMALL.queries
    publish(Publication(SMALL, target, Statements(licence="Apache-2.0")))
    publish(Publication(load_dataset(target)))
    found = json.loads((target / "croissant.json").read_text("utf-8"))
    assert (found["license"], found["creator"]["name"]) == ("Apache-2.0", "us")
    assert [one["@id"] for one in found["distribution"]] == ["queries.jsonl"]


def test_a_readme_of_your_own_is_kept(tmp_path: Path) -> None:
    """The card is then card.md."""
    copy_data(SMALL, tmp_path)
    (tmp_path / "README.md").write_text("mine")
    assert publish(Publication(load_dataset(tmp_path))) == ["card.md", "croissant.json"]
    assert (tmp_path / "README.md").read_text() == "mine"


def test_a_card_does_not_change_the_data(tmp_path: Path) -> None:
    """Digests of the data set, and what its reader finds, are as before."""
    copy_data(SMALL, tmp_path)
    before = load_dataset(tmp_path).source.facts()
    publish(Publication(load_dataset(tmp_path)))
    assert load_dataset(tmp_path).source.facts() == before


def test_other_data_are_not_overwritten(tmp_path: Path) -> None:
    """A folder with another data set is refused, and so is a set without a folder."""
    copy_data(load_dataset("sample"), tmp_path)
    with pytest.raises(DatasetError, match="has other data than small"):
        Publication(SMALL, tmp_path).facts()
    for dataset in (SMALL, load_dataset("sample")):
        with pytest.raises(DatasetError, match="name a folder with -o"):
            Publication(dataset).facts()
