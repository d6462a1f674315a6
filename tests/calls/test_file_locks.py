"""Which locks a file system has, and the journal of SQLite for it."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from ragstone.calls import file_locks
from ragstone.calls.client import Calls
from ragstone.calls.file_locks import journal_mode, lock_problem
from ragstone.calls.leases import Leases
from ragstone.calls.types import Endpoint, Reply, chat
from ragstone.testing import FakeModelServer

SHARED = (
    "nfs nfs4 cifs smb3 smbfs 9p ceph lustre gpfs beegfs afs glusterfs fuse.glusterfs fuse.sshfs "
    "fuse.ceph fuse.juicefs virtiofs"
)


def mounted(monkeypatch: pytest.MonkeyPatch, folder: Path, *lines: str) -> None:
    """Let the file system have these mounts: place, type and options."""
    (folder / "mounts").write_text("".join(f"device {line} 0 0\n" for line in lines))
    monkeypatch.setattr(file_locks, "_MOUNTS", folder / "mounts")


@pytest.mark.parametrize("kind", SHARED.split())
def test_types_that_machines_may_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Each has a rollback journal, and a problem if its locks stay on one machine."""
    mounted(monkeypatch, tmp_path, f"/ {kind} rw")
    assert journal_mode(tmp_path) == "truncate"
    assert lock_problem(tmp_path) == ""
    for option in ("nolock", "local_lock=all", "local_lock=posix"):
        mounted(monkeypatch, tmp_path, f"/ {kind} rw,{option}")
        assert lock_problem(tmp_path) == f"locks on this {kind} mount do not reach other machines"
        mounted(monkeypatch, tmp_path, f"/ ext4 rw,{option}")
        assert (journal_mode(tmp_path), lock_problem(tmp_path)) == ("wal", "")


def test_a_mount_belongs_to_the_folders_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name with the same start is another folder, and the last mount on a place counts."""
    inner, alike = tmp_path / "store" / "in", tmp_path / "store2"
    for folder in (inner, alike):
        folder.mkdir(parents=True)
    at = f"{tmp_path}/store"
    mounted(monkeypatch, tmp_path, "/ ext4 rw", f"{at} nfs rw")
    assert [journal_mode(one) for one in (inner, inner.parent, alike)] == [
        "truncate", "truncate", "wal"
    ]  # fmt: skip
    mounted(monkeypatch, tmp_path, "/ ext4 rw", f"{at} nfs rw", f"{at} xfs rw")
    assert journal_mode(inner) == "wal"
    mounted(monkeypatch, tmp_path, "/ ext4 rw", f"{at} xfs rw", f"{at} nfs rw")
    assert journal_mode(inner) == "truncate"
    mounted(monkeypatch, tmp_path, f"{at} nfs rw")
    assert journal_mode(alike) == "wal"
    (tmp_path / "link").symlink_to(inner)
    assert journal_mode(tmp_path / "link") == "truncate"
    monkeypatch.setattr(file_locks, "_MOUNTS", tmp_path / "absent")
    assert (journal_mode(inner), lock_problem(inner)) == ("wal", "")


def test_locks_are_tried_on_linux_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stays in the folder."""
    monkeypatch.setattr(file_locks, "_lock", lambda _: None)
    assert lock_problem(tmp_path) == "two processes can lock the same file there"
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(sys, "platform", "darwin")
    assert lock_problem(tmp_path) == ""


def test_locks_that_do_not_work_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning names the folder, and every call is made here."""
    assert lock_problem(tmp_path) == ""
    monkeypatch.setattr(file_locks, "_lock", lambda _: None)
    with caplog.at_level(logging.WARNING):
        first, second = Leases(tmp_path / "calls.sqlite"), Leases(tmp_path / "calls.sqlite")
        assert first.claim(["a"]) == second.claim(["a"]) == {"a"}
        assert first.claim(["a"]) == {"a"}
    assert caplog.text.count("two processes can lock the same file there") == 2
    assert str(tmp_path) in caplog.text

    def refuse(_: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(file_locks, "_lock", refuse)
    assert lock_problem(tmp_path) == "a file cannot be locked there (No locks available)"


def test_the_nearest_mount_of_a_folder_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the order of the mounts, and the length of their types."""
    inner, mounts = tmp_path / "shared", tmp_path / "mounts"
    inner.mkdir()
    lines = [f"a {inner} nfs rw 0 0\n", f"b {tmp_path} ext4 rw 0 0\n"]
    for order in (lines, lines[::-1]):
        mounts.write_text("".join(order))
        monkeypatch.setattr(file_locks, "_MOUNTS", mounts)
        assert (journal_mode(inner), journal_mode(tmp_path)) == ("truncate", "wal")


@pytest.mark.parametrize(
    ("mount", "journal", "problem"),
    [
        ("ext4 rw", "wal", ""),
        ("nfs4 rw,local_lock=none", "truncate", ""),
        ("nfs rw,nolock", "truncate", "locks on this nfs mount do not reach other machines"),
    ],
)
def test_a_shared_file_system_has_another_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mount: str, journal: str, problem: str
) -> None:
    """SQLite's write-ahead log works on one machine only; calls are kept with either."""
    mounts = tmp_path / "mounts"
    store = tmp_path / "a store"
    store.mkdir()
    shown = str(store).replace(" ", "\\040")
    mounts.write_text(f"none / ext4 rw 0 0\nserver:/x {shown} {mount} 0 0\n")
    monkeypatch.setattr(file_locks, "_MOUNTS", mounts)
    assert journal_mode(store) == journal
    assert lock_problem(store) == problem
    with FakeModelServer() as server, Calls.at(store / "calls.sqlite") as calls:
        outcomes = list(calls.ask(Endpoint("fake", (server.url,)), [chat("a"), chat("b")]))
    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    assert not (store / "calls.sqlite-journal").exists() or journal == "truncate"
