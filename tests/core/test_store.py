"""The store contains complete steps only."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from arro3.core import Table

from ragstone.core.checksums import MANIFEST
from ragstone.core.schemas import SEARCHES, columns, to_table
from ragstone.core.store import Store
from ragstone.core.stored_table import StoredTable
from ragstone.errors import DamagedFile, StoreError
from ragstone.indexes.cache import IndexCache
from ragstone.results.results import Results


@dataclass(frozen=True)
class Upper:
    """A component for tests: writes texts in capitals."""

    suffix: str = ""


def searches(*texts: str) -> StoredTable:
    """Return a table of some texts."""
    return StoredTable.in_memory(to_table(SEARCHES, {"query_id": list(texts), "text": list(texts)}))


def upper(component: Upper, given: StoredTable) -> Table:
    """Return the texts in capitals."""
    held = columns(given.table)
    texts = [text.upper() + component.suffix for text in held["text"]]
    return to_table(SEARCHES, {"query_id": held["query_id"], "text": texts})


def refuse(component: Upper, given: StoredTable) -> Table:
    """Fail the test: the step is stored."""
    raise AssertionError(f"computed again: {component}, {given}")


def test_a_stored_step_is_not_computed_again(tmp_path: Path) -> None:
    """The second call returns the stored table."""
    store = Store(tmp_path)

    first = store.get_or_compute("upper", Upper(), {"given": searches("a", "b")}, upper)
    second = store.get_or_compute("upper", Upper(), {"given": searches("a", "b")}, refuse)

    assert columns(second.table)["text"] == ["A", "B"]
    assert first.digest == second.digest


@pytest.mark.parametrize(
    ("component", "texts"), [(Upper("!"), ("a",)), (Upper(), ("b",))], ids=["parameter", "input"]
)
def test_another_parameter_or_input_is_another_step(
    tmp_path: Path, component: Upper, texts: tuple[str, ...]
) -> None:
    """The key contains parameters and digests of inputs."""
    store = Store(tmp_path)
    store.get_or_compute("upper", Upper(), {"given": searches("a")}, upper)

    assert store.find("upper", component, {"given": searches(*texts)}) is None


def test_equal_content_is_the_same_input(tmp_path: Path) -> None:
    """Digests depend on contents: a table in memory and the stored one have the same key."""
    store = Store(tmp_path)
    given = searches("a")
    kept = store.keep("given", given.table)
    read_back = StoredTable.in_memory(StoredTable(kept.digest, folder=kept.folder).table)

    assert read_back.digest == given.digest


def test_a_step_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    """No folder, finished or temporary, is left by a computation that raised."""
    store = Store(tmp_path)

    with pytest.raises(AssertionError):
        store.get_or_compute("upper", Upper(), {"given": searches("a")}, refuse)

    assert not list((tmp_path / "steps").glob("*")) if (tmp_path / "steps").exists() else True


def test_a_folder_without_manifest_does_not_count(tmp_path: Path) -> None:
    """An incomplete folder of a killed process is computed again and replaced."""
    store = Store(tmp_path)
    folder = store.folder("upper", Upper(), {"given": searches("a")})
    folder.mkdir(parents=True)
    (folder / "table.parquet").write_bytes(b"half")

    kept = store.get_or_compute("upper", Upper(), {"given": searches("a")}, upper)

    assert columns(kept.table)["text"] == ["A"]


def test_results_with_failed_rows_are_computed_again(tmp_path: Path) -> None:
    """A result with failed rows is stored, and computed again by the next call."""
    store = Store(tmp_path)
    inputs = {"given": searches("a")}

    failed = store.get_or_compute("upper", Upper(), inputs, upper, facts=lambda: {"failed": 1})
    assert store.find("upper", Upper(), inputs) is None
    kept = store.find("upper", Upper(), inputs, keep_failed=True)
    assert kept is not None
    assert kept.digest == failed.digest
    again = store.get_or_compute("upper", Upper(), inputs, upper, facts=lambda: {"failed": 0})

    assert again.manifest["failed"] == 0
    assert store.find("upper", Upper(), inputs) is not None


def test_a_result_with_failed_rows_survives_its_replacement(tmp_path: Path) -> None:
    """Another process may replace its folder at any moment: the table is in memory."""
    store, inputs = Store(tmp_path), {"given": searches("a")}
    failed = store.get_or_compute("upper", Upper(), inputs, upper, facts=lambda: {"failed": 1})
    assert failed.folder is not None
    shutil.rmtree(failed.folder)
    assert failed.table.num_rows == 1
    assert store.find("upper", Upper(), inputs, keep_failed=True) is None


def test_the_manifest_explains_the_result(tmp_path: Path) -> None:
    """It contains the component, its parameters, the inputs, the rows and the given facts."""
    store = Store(tmp_path)
    given = searches("a")

    kept = store.get_or_compute(
        "upper", Upper("?"), {"given": given}, upper, facts=lambda: {"tokens_in": 7}
    )

    manifest = kept.manifest
    assert manifest["made_by"]["parameters"] == {"suffix": "?"}
    assert manifest["inputs"] == {"given": given.digest}
    assert (manifest["rows"], manifest["tokens_in"]) == (1, 7)


def test_a_damaged_table_is_named_with_the_way_out(tmp_path: Path) -> None:
    """The error names the file and the command that repairs the store, and deletes nothing."""
    store = Store(tmp_path)
    kept = store.get_or_compute("upper", Upper(), {"given": searches("a")}, upper)
    assert kept.folder is not None
    (kept.folder / "table.parquet").write_bytes(b"damaged")

    with pytest.raises(DamagedFile, match=r"table\.parquet is damaged.*--repair") as found:
        _ = StoredTable(kept.digest, folder=kept.folder).table
    assert found.value.path == kept.folder / "table.parquet"
    assert "rm " not in str(found.value)


def flip(path: Path, _: Path) -> None:
    """Change one bit."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def swap(path: Path, other: Path) -> None:
    """Let two files or folders change places."""
    aside = path.with_name("aside")
    path.rename(aside)
    other.rename(path)
    aside.rename(other)


DAMAGE: dict[str, Callable[[Path, Path], object]] = {
    "a bit": flip,
    "cut": lambda path, _: path.write_bytes(path.read_bytes()[:-1]),
    "emptied": lambda path, _: path.write_bytes(b""),
    "deleted": lambda path, _: path.unlink(),
    "swapped": swap,
}


@pytest.mark.parametrize("name", ["table.parquet", MANIFEST])
@pytest.mark.parametrize("way", DAMAGE)
def test_a_damaged_step_is_named_set_aside_and_computed_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, way: str, name: str
) -> None:
    """Whatever happened to its table or its manifest, a swap with another step's included."""
    store, inputs = Store(tmp_path), {"given": searches("a")}
    kept = store.get_or_compute("upper", Upper(), inputs, upper)
    other = store.get_or_compute("upper", Upper("!"), inputs, upper)
    assert kept.folder is not None
    assert other.folder is not None
    DAMAGE[way](kept.folder / name, other.folder / name)

    with pytest.raises(DamagedFile) as found:
        _ = StoredTable("", folder=kept.folder).table
    assert store.find("upper", Upper(), inputs) is None
    again = store.get_or_compute("upper", Upper(), inputs, upper)

    assert found.value.path.parent == kept.folder
    assert str(found.value.path) in caplog.text
    assert columns(again.table)["text"] == ["A"]
    assert [path.name for path in (tmp_path / "damaged").iterdir()] == [f"{kept.folder.name}-1"]


def test_two_steps_that_changed_places_are_both_found(tmp_path: Path) -> None:
    """The checksum of a manifest contains the name of its folder."""
    store, inputs = Store(tmp_path), {"given": searches("a")}
    parts = [Upper(), Upper("!")]
    folders = [store.get_or_compute("upper", part, inputs, upper).folder for part in parts]
    assert folders[0] is not None
    assert folders[1] is not None
    swap(folders[0], folders[1])

    assert [store.find("upper", part, inputs) for part in parts] == [None, None]
    again = [store.get_or_compute("upper", part, inputs, upper) for part in parts]
    assert [columns(kept.table)["text"] for kept in again] == [["A"], ["A!"]]


def test_a_step_of_an_earlier_version_is_computed_again_without_a_notice(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A manifest without a checksum is not damaged, but nothing can be verified by it."""
    store, inputs = Store(tmp_path), {"given": searches("a")}
    kept = store.get_or_compute("upper", Upper(), inputs, upper)
    assert kept.folder is not None
    path = kept.folder / MANIFEST
    manifest = json.loads(path.read_text())
    del manifest["checksum"]
    path.write_text(json.dumps(manifest))

    assert store.find("upper", Upper(), inputs) is None
    store.get_or_compute("upper", Upper(), inputs, upper)
    assert store.find("upper", Upper(), inputs) is not None
    assert not caplog.text


def test_damaged_files_of_an_array_are_written_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder of files is verified when it is opened."""
    store = Store(tmp_path)
    folder = store.files("index", {"of": 1}, _write_whole)
    (folder / "whole").write_text("wh0le")

    assert store.kept_files("index", {"of": 1}) is None
    assert store.files("index", {"of": 1}, _write_whole) == folder
    assert (folder / "whole").read_text() == "whole"
    assert "whole is damaged: its bytes differ" in caplog.text
    assert (tmp_path / "damaged" / f"{folder.name}-1" / "whole").read_text() == "wh0le"


def _write_whole(folder: Path) -> None:
    (folder / "whole").write_text("whole")


def test_a_document_is_bound_to_its_name(tmp_path: Path) -> None:
    """A changed, renamed or unreadable document is an error, and can be set aside."""
    store = Store(tmp_path)
    path = store.write_json("notes", "one", {"numbers": [1, 2.5, None], "text": "ä"})
    assert store.read_json("notes", "one") == {"numbers": [1, 2.5, None], "text": "ä"}

    path.with_name("two.json").write_bytes(path.read_bytes())
    path.write_text(path.read_text().replace("2.5", "2.6"))

    for name in ("one", "two"):
        with pytest.raises(DamagedFile, match=f"{name}.json is damaged: its content differs"):
            store.read_json("notes", name)
        assert store.sound_json("notes", name) is None
    assert sorted(p.name for p in (tmp_path / "damaged").iterdir()) == ["one.json-1", "two.json-1"]


def test_a_step_names_the_arrays_that_it_used(tmp_path: Path) -> None:
    """The manifest names array folders, also those behind an index that is still in memory."""
    store, cache = Store(tmp_path), IndexCache()

    def indexed(component: Upper, given: StoredTable) -> Table:
        cache.get("index", 1, lambda: store.files("index", {"of": 1}, _write_whole))
        return upper(component, given)

    kept = [
        store.get_or_compute("upper", Upper(suffix), {"given": searches("a")}, indexed)
        for suffix in ("", "!")
    ]
    (array,) = (tmp_path / "arrays").iterdir()
    assert [step.manifest["arrays"] for step in kept] == [[array.name]] * 2


def test_a_store_that_is_not_writable_is_an_error(tmp_path: Path) -> None:
    """The error names the file that is in the place of the store."""
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(StoreError, match="cannot write"):
        Store(tmp_path / "file" / "store").check_writable()


def _finish_step(root: str, barrier: object) -> str:
    barrier.wait()  # type: ignore[attr-defined]  # a multiprocessing barrier has no public type
    store = Store(Path(root))
    return store.get_or_compute("upper", Upper(), {"given": searches("a", "b")}, upper).digest


def test_two_processes_may_finish_the_same_step(tmp_path: Path) -> None:
    """Both return the result, and there is one folder."""
    context = multiprocessing.get_context("spawn")
    # Not a `Pool`: it waits forever if a worker dies.
    with context.Manager() as manager, ProcessPoolExecutor(2, mp_context=context) as pool:
        barrier = manager.Barrier(2)
        found = list(pool.map(_finish_step, [str(tmp_path)] * 2, [barrier] * 2))

    folders = list((tmp_path / "steps").iterdir())
    assert found[0] == found[1]
    assert [folder.name.startswith("upper-") for folder in folders] == [True]
    assert json.loads((folders[0] / MANIFEST).read_text())["rows"] == 2


def test_a_full_disk_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No space left: earlier steps stay, nothing half-written is left, the message says go on."""
    store = Store(tmp_path)
    store.get_or_compute("upper", Upper(), {"given": searches("a")}, upper)

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"No space left on device\. Everything finished before"):
        store.get_or_compute("upper", Upper("!"), {"given": searches("a")}, upper)

    assert store.find("upper", Upper(), {"given": searches("a")}) is not None
    assert len(list((tmp_path / "steps").iterdir())) == 1


def test_a_folder_of_files_is_written_once(tmp_path: Path) -> None:
    """Incomplete files of a killed process are replaced; complete ones are not written again."""
    store = Store(tmp_path)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise RuntimeError("killed")

    def write(folder: Path) -> None:
        (folder / "whole").write_text("whole")

    with pytest.raises(RuntimeError, match="killed"):
        store.files("index", {"of": 1}, fail)
    folder = store.files("index", {"of": 1}, write)
    assert store.files("index", {"of": 1}, fail) == folder
    assert (folder / "whole").read_text() == "whole"
    assert not (folder / "half").exists()


def test_temporary_folders_of_killed_processes_are_removed_after_a_day(tmp_path: Path) -> None:
    """A recently changed folder may belong to another process and is not removed."""
    store = Store(tmp_path)
    store.get_or_compute("upper", Upper(), {"given": searches("a")}, upper)
    old, new = tmp_path / "steps" / ".tmp-old", tmp_path / "arrays" / ".tmp-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "half.npy").write_bytes(b"half")
    for path in (old / "half.npy", old):
        os.utime(path, (0, 0))

    store.check_writable()

    assert not old.exists()
    assert (new / "half.npy").exists()
    assert store.find("upper", Upper(), {"given": searches("a")}) is not None


def test_a_record_of_another_format_is_refused_and_kept(tmp_path: Path) -> None:
    """The error names both formats and the remedy, and nothing is deleted."""
    store = Store(tmp_path)
    path = store.write_json("experiments", "old", {"format": 1, "name": "old"})

    with pytest.raises(StoreError, match=r"format 1, this version reads format 3; run .* again"):
        Results.load(store, "old")
    assert path.exists()
