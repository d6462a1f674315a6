"""What follows from the events is the same, derived as they arrive or from all of them again."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragstone.annotation.check import check_database
from ragstone.annotation.database import Database
from ragstone.annotation.derived import Derived, derive_again
from ragstone.annotation.events import Event
from ragstone.annotation.keeping import Posted

_IDS = st.integers(0, 12).map(str)


@st.composite
def _posts(draw: st.DrawFn) -> Posted:
    return Posted(draw(st.sampled_from(["ann", "bea"])), draw(st.lists(_events(), max_size=6)))


@st.composite
def _events(draw: st.DrawFn) -> Event:
    kind: Any = draw(st.sampled_from(["label", "label", "undo", "skip", "open", "withdraw"]))
    value: Any = draw(_IDS if kind == "undo" else st.sampled_from(["yes", "no", None]))
    field = draw(st.sampled_from(["support", "skipped"])) if kind == "label" else ""
    return Event(draw(_IDS), kind, draw(st.sampled_from(["q1", "q2"])), field, value=value)


@given(st.lists(st.lists(_posts(), max_size=3), max_size=5))
def test_labels_that_were_kept_as_events_arrived_are_those_derived_anew(
    groups: list[list[Posted]],
) -> None:
    """Whatever the order of labels, skips, undos, withdrawals and second copies."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database.open(f"sqlite:///{Path(folder) / 'a.db'}", "ferry")
        for posts in groups:
            database.keep(posts)
        found = check_database(database.connections)
        database.close()

    assert (found.damage, found.stale) == ((), ())


def test_what_is_derived_can_be_derived_again(database: Database) -> None:
    """Deriving again changes nothing, also with more events than are written at a time."""
    database.keep(
        [
            Posted("ann", [Event(f"a{n}", "label", f"q{n}", "support", value=n)
                           for n in range(1500)]),
            Posted("ann", [Event(f"u{n}", "undo", f"q{n}", value=f"a{n}") for n in range(1200)]),
        ]
    )  # fmt: skip
    before = list(database.labels())
    database.connections.write(derive_again)

    assert list(database.labels()) == before
    assert len(before) == 300
    with database.connections.reading() as connection:
        assert len(Derived.of(connection).undone) == 1200
