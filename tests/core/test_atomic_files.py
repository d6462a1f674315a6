"""Files and folders appear complete or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.core.atomic_files import atomic_file, atomic_files, atomic_folder, remove_abandoned
from ragstone.core.store import Store
from ragstone.data.load import load_dataset
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import DatasetError, RagstoneError, StoreError
from ragstone.results.kept_board import write_report

_KILLED = """
import os, pathlib, sys
from ragstone.core.atomic_files import {writer}

target = pathlib.Path(sys.argv[1])
pathlib.Path.{rename} = lambda *_: os._exit(9)
with {writer}(target) as made:
    {write}
"""


def _killed(target: Path, writer: str, rename: str, write: str) -> None:
    """Run a writer in a process that ends between the write and the rename."""
    code = _KILLED.format(writer=writer, rename=rename, write=write)
    assert subprocess.run([sys.executable, "-c", code, str(target)], check=False).returncode == 9


def test_a_kill_before_the_rename_leaves_the_old_file(tmp_path: Path) -> None:
    """The old content stays, and the temporary folder is removed once it is old enough."""
    target = tmp_path / "file.json"
    target.write_text("old")

    _killed(target, "atomic_file", "replace", "made.write(b'new')")

    assert target.read_text() == "old"
    (left,) = tmp_path.glob(".tmp-*")
    assert (left / "file.json").read_text() == "new"
    remove_abandoned(tmp_path, 3600)
    assert left.exists()
    for path in (left / "file.json", left):
        os.utime(path, (0, 0))
    remove_abandoned(tmp_path, 3600)
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"]


def test_a_kill_before_the_rename_leaves_no_folder(tmp_path: Path) -> None:
    """A folder of several files does not exist until it is renamed."""
    _killed(tmp_path / "step", "atomic_folder", "rename", "(made / 'a').write_text('a')")

    assert not (tmp_path / "step").exists()


def test_content_is_on_the_disk_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file and its folder are synced before the rename, the target's folder after it.

    The folder above is synced first: a killed process may have made the target's folder.
    """
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def note_sync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        target = os.path.samestat(found, tmp_path.stat())
        done.append("target" if target else "folder" if stat.S_ISDIR(found.st_mode) else "file")
        sync(descriptor)

    def note_replace(path: Path, target: Path) -> Path:
        done.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_replace)
    with atomic_file(tmp_path / "data") as file:
        file.write(b"content")

    assert done == ["folder", "file", "folder", "rename", "target"]


def test_windows_opens_no_folder_and_syncs_files_that_it_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There a folder cannot be opened, and a file that is open for reading cannot be synced."""
    opened, system_open = [], os.open

    def open_as_windows(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        opened.append((Path(path).name, flags & os.O_RDWR))
        return system_open(path, flags, mode)

    monkeypatch.setattr("ragstone.core.atomic_files._ON_WINDOWS", True)
    monkeypatch.setattr(os, "open", open_as_windows)
    with atomic_file(tmp_path / "new" / "data") as file:
        file.write(b"content")

    assert (tmp_path / "new" / "data").read_bytes() == b"content"
    assert opened == [("data", os.O_RDWR)]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_writers_report_a_full_disk_and_a_missing_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Every writer raises its own error with the system's reason, and leaves nothing behind."""
    results, dataset = made_results(tmp_path / "s"), load_dataset("sample")
    target = tmp_path / "target"
    target.mkdir()

    def fail(_descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    writers: list[tuple[type[RagstoneError], str, Callable[[], object]]] = [
        (StoreError, "cannot write the report", lambda: write_report(results, target / "r.html")),
        (StoreError, "Everything finished before", lambda: Store(target).write_json("k", "n", {})),
        (DatasetError, "cannot write the data set", lambda: write_dataset(dataset, target)),
    ]
    for kind, message, write in writers:
        with pytest.raises(kind, match=message) as caught:
            write()
        assert os.strerror(code) in str(caught.value)
    assert not [path for path in target.rglob("*") if path.is_file() or path.name[:4] == ".tmp"]


def test_a_folder_that_cannot_be_synced_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network file system that refuses to sync folders still stores files."""
    sync = os.fsync

    def files_only(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", files_only)
    with atomic_file(tmp_path / "data") as file:
        file.write(b"content")

    assert (tmp_path / "data").read_bytes() == b"content"


def test_concurrent_writers_never_mix(tmp_path: Path) -> None:
    """Readers see one writer's whole content at any time."""
    target = tmp_path / "file"
    size = 1 << 16

    def write(letter: bytes) -> None:
        for _ in range(10):
            with atomic_file(target) as file:
                file.write(letter * size)
            found = target.read_bytes()
            assert len(found) == size
            assert len(set(found)) == 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, [b"a", b"b", b"c", b"d"]))

    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_error_in_the_block_changes_nothing(tmp_path: Path) -> None:
    """No file of a group is replaced if one of them fails, and no temporary folder is left."""
    (tmp_path / "a").write_text("old")

    def write() -> None:
        with atomic_files(tmp_path) as temporary:
            (temporary / "a").write_text("new")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        write()

    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "old")]


def test_an_existing_folder_is_replaced_only_if_obsolete(tmp_path: Path) -> None:
    """An existing folder with content is an error, unless `is_obsolete` returns true."""
    folder = tmp_path / "step"
    folder.mkdir()
    (folder / "old").touch()

    with pytest.raises(OSError, match="not empty"), atomic_folder(folder):
        pass
    assert [path.name for path in folder.iterdir()] == ["old"]

    with atomic_folder(folder, is_obsolete=lambda _: True) as temporary:
        (temporary / "new").touch()
    assert [path.name for path in folder.iterdir()] == ["new"]


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    """Files and folders get the same permissions as any other file of the user."""
    before = os.umask(0o027)
    try:
        with atomic_file(tmp_path / "file") as file:
            file.write(b"")
        with atomic_folder(tmp_path / "folder"):
            pass
    finally:
        os.umask(before)

    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("file", "folder")]
    assert modes == [0o640, 0o750]


def test_the_names_of_new_folders_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in new folders survives a power cut: every folder above it is synced."""
    synced: set[str] = set()
    fsync = os.fsync

    def record(descriptor: int) -> None:
        synced.add(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    with atomic_file(tmp_path / "a" / "b" / "file") as file:
        file.write(b"x")

    assert {str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")} <= synced


def test_a_folder_that_another_process_removes_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may vanish between the check and the listing."""

    def vanished(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "glob", vanished)
    remove_abandoned(tmp_path, 0.0)


def test_folders_among_the_files_replace_older_ones(tmp_path: Path) -> None:
    """A kill between two renames leaves some of them, and the next run writes all again."""
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "old.json").write_text("old")

    with atomic_files(tmp_path) as new:
        (new / "part").mkdir()
        (new / "part" / "new.json").write_text("new")

    assert [path.name for path in (tmp_path / "part").iterdir()] == ["new.json"]
