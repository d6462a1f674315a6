"""A call log that machines share, in a real PostgreSQL: once only, nothing lost, no secret told."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ragstone.calls.client import Calls
from ragstone.calls.log import CallLog
from ragstone.calls.postgres import PostgresLog, shared_address
from ragstone.calls.scheduler import RetryPolicy
from ragstone.calls.types import Endpoint, Failure, Outcome, Reply, Request, chat
from ragstone.core.offline import no_network
from ragstone.errors import ConfigError, StoreError
from ragstone.experiment.load import load_experiment
from ragstone.testing import FakeModelServer

ASKER = """
import sys
from pathlib import Path
from ragstone.calls import Calls, Endpoint, chat
with Calls.at(Path(sys.argv[1]), shared=sys.argv[2], max_concurrency=4) as calls:
    requests = [chat(f"question {n}") for n in range(int(sys.argv[4]))]
    for outcome in calls.ask(Endpoint("fake", (sys.argv[3],)), requests):
        print(outcome.key, outcome.text, flush=True)
"""
QUICK = RetryPolicy(attempts=1, first_wait=0.01)


def questions(count: int) -> list[Request]:
    """Return `count` different requests."""
    return [chat(f"question {number}") for number in range(count)]


def ask(path: Path, url: str, server: FakeModelServer, requests: list[Request]) -> list[Outcome]:
    """Ask on a machine with a store of its own."""
    with Calls.at(path, shared=url, retry_policy=QUICK) as calls:
        return list(calls.ask(Endpoint("fake", (server.url,)), requests))


def psql(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement in the database of a log, and return its rows."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


def test_machines_share_replies_and_keep_copies(postgres_url: str, tmp_path: Path) -> None:
    """A call that one machine made is not made by another, whose own store then has the reply."""
    one, other = tmp_path / "one" / "calls.sqlite", tmp_path / "other" / "calls.sqlite"
    with FakeModelServer() as server:
        first = ask(one, postgres_url, server, questions(20))
        again = ask(other, postgres_url, server, questions(30))
        assert sum(server.asked.values()) == 30
    assert again[:20] == first
    with CallLog(other) as log:
        assert log.outcomes([one.key for one in again]) == {one.key: one for one in again}


def test_a_store_without_the_database_is_complete(postgres_url: str, tmp_path: Path) -> None:
    """A replay needs the copy alone."""
    with FakeModelServer() as server:
        first = ask(tmp_path / "calls.sqlite", postgres_url, server, questions(5))
        with Calls.at(tmp_path / "calls.sqlite", replay_only=True) as calls:
            assert list(calls.ask(Endpoint("fake", (server.url,)), questions(5))) == first


def test_any_character_is_kept(postgres_url: str, tmp_path: Path) -> None:
    """Texts of PostgreSQL have no NUL; the log keeps it."""
    odd = [chat("null \x00, emoji \U0001f600")]
    with FakeModelServer() as server:
        first = ask(tmp_path / "one.sqlite", postgres_url, server, odd)
        assert ask(tmp_path / "other.sqlite", postgres_url, server, odd) == first
        assert sum(server.asked.values()) == 1


def test_processes_that_ask_the_same_make_each_call_once(postgres_url: str, tmp_path: Path) -> None:
    """Three machines that start together print the same replies; each call is made once."""
    with FakeModelServer(delay=0.01) as server:
        started = [
            subprocess.Popen(
                [sys.executable, "-c", ASKER, tmp_path / str(n), postgres_url, server.url, "60"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for n in range(3)
        ]
        printed = [process.communicate(timeout=120)[0] for process in started]
        assert sum(server.asked.values()) == 60
    assert len(printed[0].splitlines()) == 60
    assert printed[0] == printed[1] == printed[2]


def test_nothing_counted_is_lost_by_a_kill(postgres_url: str, tmp_path: Path) -> None:
    """Each printed reply of a killed process is in the database, and another machine goes on."""
    with FakeModelServer(delay=0.02) as server:
        store = str(tmp_path / "one.sqlite")
        command = [sys.executable, "-c", ASKER, store, postgres_url, server.url]
        process = subprocess.Popen([*command, "200"], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        printed = [process.stdout.readline() for _ in range(10)]
        process.kill()
        printed += process.stdout.read().splitlines(keepends=True)
        process.stdout.close()
        process.wait()
        asked = sum(server.asked.values())
        outcomes = ask(tmp_path / "other.sqlite", postgres_url, server, questions(200))
        repeated = sum(server.asked.values()) - 200
    assert all(isinstance(one, Reply) for one in outcomes)
    replies = {one.key: one.text for one in outcomes if isinstance(one, Reply)}
    assert all(replies[line.split()[0]] in line for line in printed if line.endswith("\n"))
    # Calls in flight, and replies that were not committed when the process was killed.
    assert 0 <= repeated <= asked
    assert repeated < 60


def test_the_first_reply_of_a_call_counts(postgres_url: str) -> None:
    """A second reply is dropped and the first returned; a reply replaces a failure."""
    from ragstone.calls.log_file import Entry

    log = PostgresLog(postgres_url)

    def entry(outcome: Outcome) -> Entry:
        return Entry("ab", "model", "model", chat("who?"), outcome)

    assert log.commit([entry(Failure("no"))]) == {}
    assert log.commit([entry(Reply("first", made_at=1.0))]) == {}
    [stored] = log.commit([entry(Reply("second", made_at=2.0))]).values()
    assert isinstance(stored, Reply)
    assert stored.text == "first"
    log.close()


def test_a_rejected_reply_is_asked_again(postgres_url: str, tmp_path: Path) -> None:
    """By a later run on any machine."""
    with FakeModelServer() as server:
        endpoint = Endpoint("fake", (server.url,))
        with Calls.at(tmp_path / "one.sqlite", shared=postgres_url) as calls:
            [reply] = calls.ask(endpoint, questions(1))
            calls.reject([reply.key], "not readable")
            assert list(calls.ask(endpoint, questions(1))) == [reply]
        ask(tmp_path / "other.sqlite", postgres_url, server, questions(1))
        ask(tmp_path / "third.sqlite", postgres_url, server, questions(1))
        assert sum(server.asked.values()) == 2


def test_a_damaged_row_counts_as_missing_and_is_replaced(postgres_url: str, tmp_path: Path) -> None:
    """Its checksum is wrong: the call is made again, once."""
    with FakeModelServer() as server:
        first = ask(tmp_path / "one.sqlite", postgres_url, server, questions(1))
        damaged = "replace(convert_from(content, 'UTF8'), 'answer', 'anzwer')"
        changed = f"content = convert_to({damaged}, 'UTF8')"
        psql(postgres_url, f"UPDATE ragstone_calls SET {changed}")  # noqa: S608 - our own text
        second = ask(tmp_path / "other.sqlite", postgres_url, server, questions(1))
        third = ask(tmp_path / "third.sqlite", postgres_url, server, questions(1))
        assert sum(server.asked.values()) == 2
    texts = [one.text for [one] in (first, second, third) if isinstance(one, Reply)]
    assert len(set(texts)) == 1
    assert len(texts) == 3


def test_a_lost_connection_is_opened_again(postgres_url: str) -> None:
    """Once, without an error."""
    log = PostgresLog(postgres_url)
    assert log.rows(["ab"], 0.0, 0.0) == []
    psql(
        postgres_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    assert log.rows(["ab"], 0.0, 0.0) == []
    log.close()


def test_tables_of_a_newer_version_are_refused(postgres_url: str) -> None:
    """With the version and the remedy."""
    log = PostgresLog(postgres_url)
    log.rows(["ab"], 0.0, 0.0)
    log.close()
    psql(postgres_url, "UPDATE ragstone_call_version SET version = 9")

    with pytest.raises(StoreError, match="version 9 of the tables"):
        log.rows(["ab"], 0.0, 0.0)


def test_a_database_that_is_away_stops_the_run_without_its_password(tmp_path: Path) -> None:
    """The message names database and host only."""
    pytest.importorskip("psycopg", reason="needs the extra annotate")
    log = CallLog(tmp_path / "calls.sqlite", "postgresql://me:s3cret@127.0.0.1:9/labels")

    with pytest.raises(StoreError, match=r"'labels' at 127\.0\.0\.1") as caught:
        log.outcomes(["ab"])
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_database_elsewhere_is_not_used_offline(tmp_path: Path) -> None:
    """The driver is compiled code, which the guard does not see."""
    pytest.importorskip("psycopg", reason="needs the extra annotate")
    log = CallLog(tmp_path / "calls.sqlite", "postgresql://db.example/labels")

    with no_network(), pytest.raises(StoreError, match="offline"):
        log.outcomes(["ab"])


def test_a_password_stands_in_the_environment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file and a command line are recorded; neither message shows the address."""
    monkeypatch.delenv("RAGSTONE_CALLS", raising=False)
    assert shared_address(None) == shared_address("") == ""
    assert shared_address("postgresql://me@db/calls") == "postgresql://me@db/calls"
    for written in ("", ":"):
        assert shared_address(f"postgresql://me{written}@db/calls")
    assert shared_address("postgresql://me:{env:PASSWORD}@db/calls")
    for written in ("postgresql://me:s3cret@db/calls", "postgresql://db/x?password=s3cret"):
        with pytest.raises(ConfigError, match="RAGSTONE_CALLS") as caught:
            shared_address(written)
        assert "s3cret" not in str(caught.value)
    with pytest.raises(ConfigError, match="begins with postgresql://"):
        shared_address("mysql://me@db/calls")
    monkeypatch.setenv("RAGSTONE_CALLS", "postgresql://me:s3cret@db/calls")
    assert shared_address("") == "postgresql://me:s3cret@db/calls"
    assert shared_address(None) == ""


def test_the_log_contains_no_secret(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API key is in no table."""
    monkeypatch.setenv("MY_KEY", "sk-very-secret-key")
    with FakeModelServer() as server:
        endpoint = Endpoint("fake", (server.url,), api_key_env="MY_KEY")
        with Calls.at(tmp_path / "calls.sqlite", shared=postgres_url) as calls:
            list(calls.ask(endpoint, questions(3)))
    rows = psql(postgres_url, "SELECT convert_from(content, 'UTF8') FROM ragstone_calls")
    assert len(rows) == 3
    assert "sk-very-secret-key" not in str(rows)


def test_a_failure_of_another_machine_is_repeated_by_a_later_run(
    postgres_url: str, tmp_path: Path
) -> None:
    """Failures are in the log; they count only for runs that had begun."""
    with FakeModelServer(faults={"400": 1.0}) as server:
        for name in ("one", "other"):
            time.sleep(0.01)
            [failed] = ask(tmp_path / name, postgres_url, server, questions(1))
            assert isinstance(failed, Failure)
        assert sum(server.asked.values()) == 2


def test_an_experiment_names_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its file or in the environment; by default there is none."""
    pytest.importorskip("psycopg", reason="needs the extra annotate")
    monkeypatch.delenv("RAGSTONE_CALLS", raising=False)
    written = {
        "data": "sample",
        "systems": {"a": {"retriever": "bm25"}},
        "metrics": ["R@5"],
        "store": str(tmp_path),
    }
    with load_experiment(written).open_calls() as calls:
        assert calls.log.shared is None
    with load_experiment(written, ["calls=postgresql://me@db/x"]).open_calls() as calls:
        assert calls.log.shared is not None
        assert calls.log.shared.database.shown == "the PostgreSQL call log 'x' at db"
    with pytest.raises(ConfigError, match="password"):
        load_experiment(written, ["calls=postgresql://me:s3cret@db/x"]).open_calls()
    monkeypatch.setenv("RAGSTONE_CALLS", "postgresql://me:s3cret@db/y")
    with load_experiment(written).open_calls() as calls:
        assert calls.log.shared is not None
        assert "s3cret" not in calls.log.shared.database.shown
        assert "s3cret" not in repr(calls)
