"""Leases: a call is made by one process, and by another one if that process ends."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.calls.test_log import keep

from ragstone.calls import clock, leases
from ragstone.calls.client import Calls
from ragstone.calls.leases import Leases, file_of, live_owners, may_live, new_owner
from ragstone.calls.types import Endpoint, Failure, Reply, chat
from ragstone.core import limits
from ragstone.errors import StoreError
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


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the path of a call log in a folder that does not exist."""
    return tmp_path / "store" / "calls.sqlite"


class Clock:
    """A clock of monotonic seconds that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(clock, "monotonic", lambda: self.now)


def rows(log: Path, table: str) -> list[tuple[str, str | float]]:
    """Return the rows of a table of leases."""
    with sqlite3.connect(file_of(log)) as connection:
        found = connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()  # noqa: S608
    connection.close()
    return found


def test_an_owner_is_a_process_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of this machine that ended does not live; of others nothing is known."""
    machine, pid, token = new_owner().rsplit(":", 2)
    host, boot, space = machine.split("/")
    assert (host, int(pid), len(boot)) == (socket.gethostname(), os.getpid(), 8)
    assert int(space) > 0
    assert len(bytes.fromhex(token)) == 4
    assert new_owner() != new_owner()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert may_live(f"{machine}:{os.getpid()}:00")
    assert not may_live(f"{machine}:{ended.pid}:00")
    assert may_live(f"{machine}0:{ended.pid}:00")
    assert may_live(f"::1/{boot}/{space}:{ended.pid}:00")

    def refuse(*_: object, **__: object) -> str:
        raise OSError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert leases._machine.__wrapped__() == socket.gethostname()
    monkeypatch.setattr(leases, "_machine", socket.gethostname)
    assert may_live(f"{socket.gethostname()}:{ended.pid}:00")


def test_live_owners_have_a_recent_heartbeat(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By this machine's clock; without a file there are none."""
    assert live_owners(log) == []
    mine = Leases(log)
    monkeypatch.setattr(clock, "now", lambda: 5000.0)
    mine.claim(["a"])
    assert rows(log, "owners") == [(mine.owner, 5000.0)]
    assert rows(log, "leases") == [("a", mine.owner)]
    assert log.with_name("calls.leases.sqlite") == file_of(log) == mine.path
    assert log.parent.stat().st_mode & 0o077 == mine.path.stat().st_mode & 0o077 == 0
    for later, expected in ((99.0, []), (10.0, []), (9.9, [mine.owner]), (0.0, [mine.owner])):
        monkeypatch.setattr(clock, "now", lambda later=later: 5000.0 + later)
        assert live_owners(log) == expected
    monkeypatch.setattr(leases, "may_live", lambda _: False)
    assert live_owners(log) == []
    mine.close()


def test_an_owner_is_silent_after_the_time_of_expiry(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is observed since a heartbeat was first seen, and a new one starts it again."""
    time_, other, mine = Clock(monkeypatch), Leases(log), Leases(log)
    assert other.claim(["a", "b"]) == {"a", "b"}
    assert mine.claim(["a", "c"]) == {"c"}
    time_.now += limits.LEASE_EXPIRY_SECONDS
    assert mine.claim(["a"]) == set()
    monkeypatch.setattr(clock, "now", lambda: 1.0)
    other._beat()
    time_.now += limits.LEASE_EXPIRY_SECONDS
    assert mine.claim(["a"]) == set()
    time_.now += limits.LEASE_EXPIRY_SECONDS
    assert mine.claim(["a"]) == set()
    time_.now += 0.001
    assert mine.claim(["a"]) == {"a"}
    assert rows(log, "leases") == [("a", mine.owner), ("c", mine.owner)]
    assert [owner for owner, _ in rows(log, "owners")] == [mine.owner]
    other._beat()
    assert mine.claim(["b"]) == {"b"}
    other.close()
    assert [owner for owner, _ in rows(log, "owners")] == [mine.owner]
    mine.close()
    assert rows(log, "leases") == rows(log, "owners") == []


def test_an_owner_without_a_heartbeat_in_the_file_is_dead(log: Path) -> None:
    """Its leases are taken at once."""
    mine = Leases(log)
    mine.claim(["a"])
    assert mine._connection.execute("PRAGMA synchronous").fetchone() == (0,)  # type: ignore[union-attr]
    mine._connection.execute("INSERT INTO leases VALUES ('b', 'no:1:2')")  # type: ignore[union-attr]
    assert mine.claim(["a", "b"]) == {"b"}
    mine.close()


def test_a_lease_is_given_back_once(log: Path) -> None:
    """With the next claim or heartbeat; a lease that is claimed again stays, and so do others'."""
    first, second = Leases(log), Leases(log)
    assert first.claim(["a", "b"]) == {"a", "b"}
    assert second.claim(["c"]) == {"c"}
    first.release(["b", "a", "c"])
    first._beat()
    assert rows(log, "leases") == [("c", second.owner)]
    assert first.claim(["a"]) == {"a"}
    first._beat()
    assert first.claim([]) == set()
    assert rows(log, "leases") == [("a", first.owner), ("c", second.owner)]
    first.close()
    second.close()


def test_leases_are_closed_and_used_again(log: Path) -> None:
    """The heartbeat ends with them, and starts again with the next claim."""
    mine = Leases(log)
    mine.close()
    assert not log.parent.exists()
    for _ in range(2):
        assert mine.claim(["a"]) == {"a"}
        thread = mine._thread
        assert thread is not None
        assert thread.name == "ragstone-leases"
        mine._disconnect()
        assert mine.claim(["b"]) == {"b"}
        assert mine._thread is thread
        assert thread.is_alive()
        mine.close()
        assert not thread.is_alive()
        assert rows(log, "leases") == rows(log, "owners") == []
        mine.close()


def test_any_number_of_calls_is_claimed_at_once(log: Path) -> None:
    """SQLite limits the parameters of a statement."""
    mine, other = Leases(log), Leases(log)
    keys = [f"{n:05}" for n in range(40_000)]
    assert mine.claim(keys) == set(keys)
    assert other.claim([*keys, "x"]) == {"x"}
    mine.close()
    other.close()


def test_a_damaged_file_is_replaced(log: Path) -> None:
    """Also with a page that no query would notice; what belongs to the file is removed too."""
    log.parent.mkdir()
    file_of(log).write_bytes(b"no database " * 1000)
    mine = Leases(log)
    mine.claim([f"{n:060}" for n in range(2000)])
    mine._connection.close()  # type: ignore[union-attr]
    mine._connection = None
    content = bytearray(mine.path.read_bytes())
    content[4 * 4096 : 5 * 4096] = bytes(4096)
    mine.path.write_bytes(content)
    assert mine.claim(["a"]) == {"a"}
    assert rows(log, "leases") == [("a", mine.owner)]
    mine.close()
    other = Leases(log)
    for suffix in ("-wal", "-shm", "-journal"):
        mine.path.with_name(mine.path.name + suffix).write_bytes(b"x")
    other._discard()
    assert list(log.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "code", "outcome"),
    [
        (sqlite3.OperationalError, sqlite3.SQLITE_FULL, "raised"),
        (sqlite3.OperationalError, sqlite3.SQLITE_READONLY_DBMOVED, "kept"),
        (sqlite3.DatabaseError, sqlite3.SQLITE_CORRUPT, "discarded"),
        (sqlite3.DatabaseError, None, "discarded"),
    ],
)
def test_an_error_of_the_file(
    log: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception], code: int, outcome: str
) -> None:
    """A lasting one is told, a damaged file is discarded, a moved one is opened again."""
    mine = Leases(log)
    mine.claim(["a"])
    claim, raised = mine._claim, error("a fault")
    if code is not None:
        raised.sqlite_errorcode = code  # type: ignore[attr-defined]
    left = [raised]

    def faulty(keys: list[str], places: str) -> set[str]:
        if left:
            raise left.pop()
        return claim(keys, places)

    monkeypatch.setattr(mine, "_claim", faulty)
    if outcome == "raised":
        with pytest.raises(StoreError):
            mine.claim(["b"])
    else:
        assert mine.claim(["b"]) == {"b"}
        kept = ["a", "b"] if outcome == "kept" else ["b"]
        assert [key for key, _ in rows(log, "leases")] == kept
    mine.close()


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
