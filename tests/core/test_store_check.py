"""A check finds every damaged file of a store, and repairs what the next run can make again."""

from __future__ import annotations

from pathlib import Path

import pytest
from arro3.core import Table

from ragstone.core.schemas import SEARCHES, to_table
from ragstone.core.store import Store
from ragstone.core.store_check import StoreCheck, check_store
from ragstone.errors import DamagedFile, StoreError


def table(text: str) -> Table:
    """Return a table of one text."""
    return to_table(SEARCHES, {"query_id": ["q"], "text": [text]})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store with two tables, a record that names one of them, and an array."""
    made = Store(tmp_path / "store")
    folder = made.keep("texts", table("a")).folder
    made.keep("texts", table("b"))
    made.files("index", {"of": 1}, lambda folder: (folder / "whole").write_text("whole"))
    assert folder is not None
    made.write_json("experiments", "one", {"steps": [folder.name]})
    return made


def found(check: StoreCheck) -> list[tuple[str, str, bool]]:
    """Return the names of damaged files and the beginnings of their damage."""
    return [(Path(one.path).name, one.what[:13], one.repaired) for one in check.damaged]


def test_a_sound_store_has_no_damage(store: Store) -> None:
    """The files are counted: two tables, an array, three manifests and a record."""
    assert check_store(store) == StoreCheck(7, ())
    assert check_store(store).is_sound


def test_all_damage_is_found_and_set_aside(store: Store) -> None:
    """A check alone changes nothing; a repair moves what is damaged, and deletes nothing."""
    first, second = sorted((store.root / "steps").iterdir())
    (first / "table.parquet").write_bytes(b"")
    (second / "manifest.json").unlink()
    (array,) = (store.root / "arrays").iterdir()
    (array / "whole").write_text("wh0le")
    (store.root / "experiments" / "one.json").write_text("{")
    files = sorted(path.name for path in store.root.rglob("*") if path.is_file())

    expected = [
        ("one.json", "it cannot be "),
        ("table.parquet", "its bytes dif"),
        ("manifest.json", "it is missing"),
        ("whole", "its bytes dif"),
    ]
    assert found(check_store(store)) == [(*one, False) for one in expected]
    assert found(check_store(store, repair=True)) == [(*one, True) for one in expected]
    assert sorted(path.name for path in (store.root / "damaged").iterdir()) == sorted(
        f"{path.name}-1" for path in (first, second, array, Path("one.json"))
    )
    assert check_store(store).is_sound
    left = sorted(path.name for path in store.root.rglob("*") if path.is_file())
    assert left == sorted("one.json-1" if name == "one.json" else name for name in files)


def test_a_step_that_a_record_names_is_missed(store: Store) -> None:
    """It counts as repaired with `repair`, because the next run makes it again."""
    folder = store.keep("texts", table("a")).folder
    assert folder is not None
    store.set_aside(folder)

    check = check_store(store)
    assert [(one.path, one.repaired) for one in check.damaged] == [(f"steps/{folder.name}", False)]
    assert "experiment 'one' refers to it" in check.damaged[0].what
    assert check_store(store, repair=True).is_sound


def test_arrays_may_have_checks_of_their_own(store: Store) -> None:
    """A function of the step finds damage in files that the manifest does not list."""
    (array,) = (store.root / "arrays").iterdir()
    damage = DamagedFile(array / "more", "it is strange", store=store.root)

    check = check_store(store, arrays={"index": lambda _: [damage]})
    assert [one.what for one in check.damaged] == ["it is strange"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """The error names it."""
    with pytest.raises(StoreError, match=r"there is no store .*nothing"):
        check_store(Store(tmp_path / "nothing"))
