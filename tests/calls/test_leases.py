"""Leases: a call is made by one process, and by another one if that process ends."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.calls.test_log import keep

from ragstone.calls import file_locks, leases
from ragstone.calls.client import Calls
from ragstone.calls.file_locks import journal_mode, lock_problem
from ragstone.calls.leases import Leases, live_owners
from ragstone.calls.types import Endpoint, Failure, Reply, chat
from ragstone.core import limits
from ragstone.testing import FakeModelServer

HOLDER = """
import sys, time
from pathlib import Path
from ragstone.calls.leases import Leases
leases = Leases(Path(sys.argv[1]))
print(len(leases.claim(sys.argv[2:])), flush=True)
time.sleep(600)
"""
ASKER = """
import sys
from pathlib import Path
from ragstone.calls import Calls, Endpoint, chat
with Calls.at(Path(sys.argv[1]), max_concurrency=8) as calls:
    requests = [chat(f"question {n}") for n in range(int(sys.argv[3]))]
    for outcome in calls.ask(Endpoint("fake", (sys.argv[2],)), requests):
        print(outcome.key, getattr(outcome, "text", ""), flush=True)
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Start another process."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def hold(path: Path, *keys: str) -> subprocess.Popen[str]:
    """Start a process that has leases and does nothing."""
    process = start(HOLDER, path, *keys)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == str(len(keys))
    return process


def test_a_call_has_one_owner_until_it_is_released(tmp_path: Path) -> None:
    """A second owner gets the calls that are free; a released call is free after a heartbeat."""
    first, second = Leases(tmp_path / "calls.sqlite"), Leases(tmp_path / "calls.sqlite")
    assert first.claim(["a", "b"]) == {"a", "b"}
    assert second.claim(["b", "c"]) == {"c"}
    assert first.claim(["a"]) == set()
    assert len(live_owners(tmp_path / "calls.sqlite")) == 2
    first.release(["b"])
    first.claim(["d"])
    assert second.claim(["a", "b"]) == {"b"}
    first.close()
    assert second.claim(["a"]) == {"a"}
    second.close()


def test_a_process_that_ended_loses_its_leases_at_once(tmp_path: Path) -> None:
    """On the same machine, the process table shows that it ended."""
    process = hold(tmp_path / "calls.sqlite", "a")
    mine = Leases(tmp_path / "calls.sqlite")
    assert mine.claim(["a"]) == set()
    process.kill()
    process.communicate()
    assert mine.claim(["a"]) == {"a"}
    mine.close()


def test_a_silent_owner_on_another_machine_loses_its_leases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner is silent if its heartbeat does not change for LEASE_EXPIRY_SECONDS."""
    process = hold(tmp_path / "calls.sqlite", "a")
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(leases, "_machine", lambda: "another/machine")
    mine = Leases(tmp_path / "calls.sqlite")
    assert mine.claim(["a"]) == set()
    monkeypatch.setattr(limits, "LEASE_EXPIRY_SECONDS", 0.2)
    time.sleep(0.3)
    assert mine.claim(["a"]) == {"a"}
    mine.close()
    process.kill()
    process.communicate()


def test_a_heartbeat_keeps_leases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner that renews every LEASE_HEARTBEAT_SECONDS keeps its leases for any time."""
    monkeypatch.setattr(limits, "LEASE_HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(limits, "LEASE_EXPIRY_SECONDS", 1.0)
    first, second = Leases(tmp_path / "calls.sqlite"), Leases(tmp_path / "calls.sqlite")
    first.claim(["a"])
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        assert second.claim(["a"]) == set()
        time.sleep(0.1)
    first.close()
    second.close()


def test_a_damaged_file_of_leases_is_replaced(tmp_path: Path) -> None:
    """It contains nothing that must survive."""
    (tmp_path / "calls.leases.sqlite").write_bytes(b"no database " * 1000)
    mine = Leases(tmp_path / "calls.sqlite")
    assert mine.claim(["a"]) == {"a"}
    mine.close()


def test_four_processes_make_each_call_once(tmp_path: Path) -> None:
    """They start at the same moment, in a folder that does not exist, and end alike."""
    with FakeModelServer(delay=0.01) as server:
        path = tmp_path / "new" / "store" / "calls.sqlite"
        four = [start(ASKER, path, server.url, 200) for _ in range(4)]
        printed = [process.communicate(timeout=120)[0] for process in four]
        assert server.asked.total() == len(server.asked) == 200
    assert [process.returncode for process in four] == [0] * 4
    assert len(set(printed)) == 1


def test_a_killed_process_leaves_its_calls_to_the_others(tmp_path: Path) -> None:
    """Only the calls in flight are repeated, and those whose replies were not stored yet."""
    path = tmp_path / "calls.sqlite"
    with FakeModelServer(delay=0.05) as server:
        one, two = (start(ASKER, path, server.url, 150) for _ in range(2))
        assert one.stdout is not None
        one.stdout.readline()
        one.kill()
        one.communicate()
        printed = two.communicate(timeout=60)[0]
        assert server.asked.total() <= 150 + 2 * server.peak
    assert two.returncode == 0
    assert len(printed.splitlines()) == 150


def test_the_reply_of_another_process_is_taken_when_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call of another process is looked for every LEASE_POLL_SECONDS, and not made."""
    monkeypatch.setattr(limits, "LEASE_POLL_SECONDS", 0.01)
    path = tmp_path / "calls.sqlite"
    request = chat("question")
    with FakeModelServer() as server, Calls.at(path) as calls:
        endpoint = Endpoint("fake", (server.url,))
        key = request.key(endpoint.identity)
        other = Leases(path)
        other.claim([key])
        outcomes = calls.ask(endpoint, [request, chat("another")])
        keep(path, [Reply("from elsewhere", key=key)])
        assert next(outcomes) == Reply("from elsewhere", key=key)
        assert isinstance(next(outcomes), Reply)
        other.close()
        assert server.asked.total() == 1
        assert (calls.usage.asked, calls.usage.kept) == (1, 1)


def test_a_failure_of_another_process_counts_for_calls_that_wait_for_it(tmp_path: Path) -> None:
    """A failure from before the batch is repeated; a later one is the outcome."""
    path, request = tmp_path / "calls.sqlite", chat("question")
    with FakeModelServer() as server, Calls.at(path) as calls:
        endpoint = Endpoint("fake", (server.url,))
        key = request.key(endpoint.identity)
        keep(path, [Failure("earlier", key=key)])
        assert isinstance(next(calls.ask(endpoint, [request])), Reply)
        late, other = chat("late"), Leases(path)
        late_key = late.key(endpoint.identity)
        other.claim([late_key])
        outcomes = calls.ask(endpoint, [late])
        time.sleep(0.02)

        def fail() -> None:
            time.sleep(0.1)
            keep(path, [Failure("just now", key=late_key)])

        threading.Thread(target=fail).start()
        assert next(outcomes) == Failure("just now", key=late_key)
        other.close()
        assert server.asked.total() == 1


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


def test_a_process_goes_on_after_another_one_discarded_the_file(tmp_path: Path) -> None:
    """A damaged file is removed by the first that finds it; the others open the new one."""
    log = tmp_path / "calls.sqlite"
    first = Leases(log)
    assert first.claim(["a"]) == {"a"}
    Leases(log)._discard()  # what a second process does with a damaged file
    second = Leases(log)
    assert second.claim(["b"]) == {"b"}
    assert first.claim(["b", "c"]) == {"c"}
    first.close()
    second.close()
