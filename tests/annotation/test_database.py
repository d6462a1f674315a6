"""The events of a project: kept once, undone, and the labels that follow from them."""

from __future__ import annotations

from pathlib import Path

from ragstone.annotation.database import Database
from ragstone.annotation.events import Event


def test_a_second_copy_counts_once_and_an_undo_restores_the_label_before(tmp_path: Path) -> None:
    """State is the last event that counts."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "ferry")
    first = Event("1", "label", "q1", "support", value="yes")
    database.append("ann", [first, first, Event("2", "label", "q1", "support", value="no")])
    assert [one.value for one in database.labels()] == ["no"]

    database.append("ann", [Event("3", "undo", "q1", value="2")])

    assert [one.value for one in database.labels()] == ["yes"]
    assert [one.event.client_id for one in database.events()] == ["1", "2", "3"]
