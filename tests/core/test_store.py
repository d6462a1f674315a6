"""The store contains complete steps only."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from arro3.core import Table

from ragstone.core.schemas import SEARCHES, columns, to_table
from ragstone.core.store import MANIFEST, Store, StoredTable
from ragstone.errors import StoreError
from ragstone.results.results import Results


@dataclass(frozen=True)
class Upper:
    """A component for tests: writes texts in capitals."""

    suffix: str = ""


def searches(*texts: str) -> StoredTable:
    """Return a table of some texts."""
    return StoredTable.in_memory(to_table(SEARCHES, {"query_id": list(texts), "text": list(texts)}))


def upper(component: Upper, given: Table) -> Table:
    """Return the texts in capitals."""
    held = columns(given)
    texts = [text.upper() + component.suffix for text in held["text"]]
    return to_table(SEARCHES, {"query_id": held["query_id"], "text": texts})


def refuse(component: Upper, given: Table) -> Table:
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


def test_a_damaged_table_names_the_folder_to_remove(tmp_path: Path) -> None:
    """The error names the folder and the command that removes it."""
    store = Store(tmp_path)
    kept = store.get_or_compute("upper", Upper(), {"given": searches("a")}, upper)
    assert kept.folder is not None
    (kept.folder / "table.parquet").write_bytes(b"damaged")

    with pytest.raises(StoreError, match="rm -r"):
        _ = StoredTable(kept.digest, folder=kept.folder).table


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

    with pytest.raises(StoreError, match=r"format 1, this version reads format 2; run .* again"):
        Results.load(store, "old")
    assert path.exists()
