"""What a store contains, and what can be removed from it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Table

from ragstone.core.schemas import SEARCHES, to_table
from ragstone.core.store import Store
from ragstone.core.store_contents import Leftover, StoreContents, earlier_records, prune
from ragstone.core.stored_table import StoredTable
from ragstone.types import Query


def table(text: str) -> Table:
    """Return a table of one text."""
    return to_table(SEARCHES, {"query_id": ["q"], "text": [text]})


def folder_of(kept: StoredTable) -> str:
    """Return the name of a table's folder."""
    assert kept.folder is not None
    return kept.folder.name


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store with a record of one step, which used an array; a step and an array more."""
    made = Store(tmp_path / "store")

    def indexed(_: object) -> Table:
        made.files("index", {"of": 1}, lambda folder: (folder / "whole").write_text("whole"))
        return table("a")

    used = made.get_or_compute("texts", Query("q", "any frozen dataclass"), {}, indexed)
    made.keep("texts", table("b"))
    made.files("index", {"of": 2}, lambda folder: (folder / "whole").write_text("other"))
    document = {"started": "2026-11-22", "finished": None, "steps": [folder_of(used)]}
    made.write_json("experiments", "one", document)
    return made


def paths(left: Iterable[Leftover]) -> set[str]:
    """Return the kinds of left-over files and folders."""
    return {one.path.rpartition("-")[0] for one in left}


def make_old(path: Path) -> None:
    """Set the time of change of a file or folder and of all below it to 1970."""
    for one in (*path.rglob("*"), path):
        os.utime(one, (0, 0))


def test_earlier_runs_keep_their_steps_until_they_are_forgotten(store: Store) -> None:
    """Without `--forget` nothing of an earlier run is removed."""
    orphan = next(one for one in StoreContents.of(store).orphans if "steps/" in one.path)
    path = store.write_json("history", "one@2026-10-01", {"steps": [Path(orphan.path).name]})
    make_old(path)

    kept = StoreContents.of(store)
    forgotten = earlier_records(store.root, 365)
    pruned = StoreContents.of(store, forgotten=forgotten)

    assert [one.path for one in forgotten] == ["history/one@2026-10-01.json"]
    assert orphan.path not in {one.path for one in kept.orphans}
    assert orphan.path in {one.path for one in pruned.orphans}
    prune(store.root, forgotten)
    assert earlier_records(store.root, 0) == []


def test_experiments_and_orphans_are_listed(store: Store) -> None:
    """A step of a record and the arrays that it used are no orphans."""
    contents = StoreContents.of(store)

    (experiment,) = contents.experiments
    assert (experiment.name, experiment.started, experiment.finished) == ("one", "2026-11-22", None)
    assert (experiment.steps, experiment.problem) == (1, "")
    assert paths(contents.orphans) == {"steps/texts", "arrays/index"}
    assert contents.bytes > sum(one.bytes for one in contents.orphans) > 0


def test_a_damaged_record_still_protects_its_steps(store: Store) -> None:
    """Also after it was set aside: its next run needs them."""
    before = StoreContents.of(store).orphans
    path = store.root / "experiments" / "one.json"
    path.write_text(path.read_text() + "}")

    contents = StoreContents.of(store)
    assert "cannot be read" in contents.experiments[0].problem
    assert contents.orphans == before
    store.set_aside(path)
    assert StoreContents.of(store).orphans == before


def test_an_attempt_protects_its_steps(store: Store) -> None:
    """The steps of a run that is under way are in no record yet."""
    orphan = next(one for one in StoreContents.of(store).orphans if one.path.startswith("steps"))
    store.write_json("attempts", "one", {"steps": [Path(orphan.path).name]})

    assert paths(StoreContents.of(store).orphans) == {"arrays/index"}


def test_only_old_orphans_are_pruned(store: Store) -> None:
    """Abandoned and set-aside ones too; what is used and what is young stays."""
    young = StoreContents.of(store)
    assert young.prunable(1.0) == []
    for orphan in young.orphans:
        make_old(store.root / orphan.path)
    temporary = store.root / "steps" / ".tmp-1"
    temporary.mkdir()
    make_old(temporary)
    path = store.write_json("notes", "two", {})
    store.set_aside(path)

    chosen = StoreContents.of(store).prunable(1.0)
    prune(store.root, chosen)

    assert paths(chosen) == {"steps/texts", "arrays/index", "steps/.tmp", "damaged/two.json"}
    assert StoreContents.of(store).prunable(0.0) == []
    assert len(list((store.root / "steps").iterdir())) == 1
    assert len(list((store.root / "arrays").iterdir())) == 1


def test_a_record_of_an_earlier_version_is_listed(store: Store) -> None:
    """It has no checksum."""
    (store.root / "experiments" / "old.json").write_text('{"format": 2, "started": "2026-01-01"}')

    found: Any = {one.name: one for one in StoreContents.of(store).experiments}["old"]
    assert (found.started, "without a checksum" in found.problem) == ("2026-01-01", True)
