"""Limits of calls, local models, left-over files and memory: each changes a result or a call."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ragstone.calls import CallLog, Calls, Endpoint, Reply, RetryPolicy, chat
from ragstone.calls.http import _Server
from ragstone.calls.log_file import Entry
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.types import Request
from ragstone.components.generators.command import Command
from ragstone.components.metrics import bert_encoder
from ragstone.core import limits
from ragstone.core.store import Store
from ragstone.errors import CallError, ModelFileError
from ragstone.indexes.cache import IndexCache
from ragstone.indexes.exact_knn import nearest
from ragstone.indexes.inverted import Postings
from ragstone.indexes.quantisation import Vectors, longest
from ragstone.models import download, files, in_process, llama_server, locate
from ragstone.protocols import Services
from ragstone.statistics.resampling import Bootstrap
from ragstone.testing import FakeModelServer
from ragstone.types import Context, Query, Task

QUICK = RetryPolicy(first_wait=0.001, longest_wait=0.001)


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Calls with the default limits and short waits."""
    with Calls.at(tmp_path / "calls.sqlite", retry_policy=QUICK) as opened:
        yield opened


def outcomes(calls: Calls, server: FakeModelServer, *requests: Request) -> list[Any]:
    """Return the outcomes of calls of a server."""
    return list(calls.ask(Endpoint("fake", (server.url,)), requests))


def stored(path: Path, count: int) -> list[str]:
    """Store replies of the model m in a call log, and return their keys."""
    keys = [f"k{n}" for n in range(count)]
    listener = SimpleNamespace(committed=lambda _: None)
    with CallLog(path) as log:
        for key in keys:
            log.put(Entry(key, "m", "m", chat(key), Reply("so", key=key)), cast("Any", listener))
    return keys


def test_a_call_has_a_maximum_number_of_attempts(calls: Calls) -> None:
    """A server that fails each time gets the maximum of attempts."""
    with FakeModelServer(faults={"500": 1.0}) as server:
        (failure,) = outcomes(calls, server, chat("Why?"))
        assert failure.attempts == sum(server.asked.values()) == limits.MAX_ATTEMPTS


def test_failures_in_a_row_stop_a_run(calls: Calls) -> None:
    """The error names the maximum."""
    message = f"^{limits.MAX_CONSECUTIVE_FAILURES} calls in a row failed"
    with FakeModelServer(faults={"500": 1.0}) as server, pytest.raises(CallError, match=message):
        outcomes(calls, server, *(chat(f"{n}") for n in range(200)))


def test_waits_double_up_to_a_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits before an attempt, and rests of a server; no power overflows."""
    policy, server = RetryPolicy(), _Server("http://localhost", "localhost")
    assert policy.wait(1, 1.0) == limits.FIRST_RETRY_SECONDS
    assert policy.wait(2, 1.0) == 2 * limits.FIRST_RETRY_SECONDS
    assert policy.wait(5000, 1.0) == limits.MAX_RETRY_SECONDS
    server.failed(now=1.0)
    assert server.avoid_until == 1.0 + limits.SERVER_REST_SECONDS
    for _ in range(5000):
        server.failed(now=1.0)
    assert server.avoid_until == 1.0 + limits.MAX_SERVER_REST_SECONDS
    monkeypatch.setattr(limits, "MAX_DOUBLINGS", 2)
    assert policy.wait(5000, 1.0) == 4 * limits.FIRST_RETRY_SECONDS


def test_concurrency_grows_from_a_minimum_to_a_maximum(calls: Calls) -> None:
    """A server with a stable latency ends at the maximum."""
    pace = ConcurrencyLimiter(calls.max_concurrency)
    assert pace.limit == limits.INITIAL_CONCURRENT_CALLS
    for _ in range(200):
        pace.succeeded(0.05)
    assert pace.limit == limits.MAX_CONCURRENT_CALLS


def test_a_reply_has_a_maximum_length(calls: Calls) -> None:
    """It is sent with each call: the default, and for Anthropic's protocol instead of None."""
    with FakeModelServer() as server:
        outcomes(calls, server, chat("Why?"))
        anthropic = Endpoint("fake", (server.url,), protocol="anthropic")
        list(calls.ask(anthropic, [chat("Why?", max_tokens=None)]))
        sent = [body["max_tokens"] for body in server.bodies]
    assert sent == [limits.REPLY_TOKENS, limits.ANTHROPIC_REPLY_TOKENS]


def test_an_estimate_samples_the_latest_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most a number of replies, among a number of rows."""
    stored(tmp_path / "log", 9)
    with CallLog(tmp_path / "log") as log:
        assert len(log.sample("m")) == 9
        monkeypatch.setattr(limits, "MAX_SAMPLED_ROWS", 5)
        assert len(log.sample("m")) == 5
        monkeypatch.setattr(limits, "MAX_SAMPLED_REPLIES", 2)
        assert len(log.sample("m")) == 2


def test_many_keys_and_many_replies_are_all_stored_and_found(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size of a query and of the queue for the disk changes no result."""
    monkeypatch.setattr(limits, "MAX_KEYS_PER_QUERY", 2)
    monkeypatch.setattr(limits, "MAX_UNCOMMITTED_REPLIES", 1)
    keys = stored(tmp_path / "log", 5)
    with CallLog(tmp_path / "log") as log:
        assert list(log.replies(keys)) == keys
    with FakeModelServer() as server:
        found = outcomes(calls, server, *(chat(f"{n}") for n in range(30)))
    assert all(isinstance(outcome, Reply) for outcome in found)


def test_a_response_that_is_not_a_reply_is_cut(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason contains the start of the page."""
    with FakeModelServer(faults={"wrong-type": 1.0}) as server:
        monkeypatch.setattr(limits, "MAX_EXCERPT_CHARACTERS", 9)
        (failure,) = outcomes(calls, server, chat("Why?"))
    assert "(<html>...); is this the base_url of a model server?" in failure.reason


def test_a_secret_that_a_server_repeats_is_removed(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value of the environment; a short one may be part of a word and stays."""
    assert len("Why") < limits.MIN_SECRET_CHARACTERS
    monkeypatch.setenv("LONG", "question-secret")
    monkeypatch.setenv("SHORT", "Why")
    with FakeModelServer(answer=lambda messages: messages[-1]["content"]) as server:
        endpoint = Endpoint("fake", (server.url,), references=("env:LONG", "env:SHORT"))
        (reply,) = calls.ask(endpoint, [chat("Why question-secret?")])
    assert isinstance(reply, Reply)
    assert reply.text == "Why ***?"


def test_the_cause_of_another_program_is_cut(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last line of a command, the error of another library, the last lines of a server."""
    monkeypatch.setattr(limits, "MAX_CAUSE_CHARACTERS", 6)
    monkeypatch.setattr(limits, "MAX_LOG_LINES", 2)
    command = Command(shlex.join([sys.executable, "-c", "raise SystemExit('no licence')"]))
    task = Task(Query("1", "Why?"), Context("1", "none", ()))
    (outcome,) = command.generate([task], Services(calls=calls))
    assert outcome.reason.endswith("last line of its standard error: no lic")
    assert "downloaded (no net)" in str(locate._not_downloaded("m", OSError("no network here")))
    assert llama_server._last_lines(io.BytesIO(b"one\ntwo\n\nthree\n")) == "two / three"


def test_a_local_server_has_a_maximum_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `context_tokens` the workers start with the default."""
    started: list[tuple[Any, ...]] = []
    monkeypatch.setattr(llama_server, "_pools", {})
    monkeypatch.setattr(llama_server, "check_runnable", Path)
    monkeypatch.setattr(llama_server, "_start", lambda *given: started.append(given))
    llama_server.local_servers("my.gguf", workers=1)
    assert started == [("my.gguf", Path("my.gguf"), "", 1, limits.CONTEXT_TOKENS)]


def test_a_model_of_this_process_has_a_short_queue() -> None:
    """Concurrent calls fill a number of batches."""
    pace = ConcurrencyLimiter(limits.MAX_CONCURRENT_CALLS)
    endpoint = Endpoint("m", ("http://localhost/v1",))
    in_process.in_process(endpoint, pace, lambda: cast("Any", None), 4)
    assert pace.maximum == 4 * limits.MAX_QUEUED_BATCHES


def left_behind(folder: Path, seconds: float) -> Path:
    """Return a temporary folder that was changed some seconds ago."""
    left = folder / ".tmp-0"
    left.mkdir(parents=True)
    changed = left.stat().st_mtime - seconds
    os.utime(left, (changed, changed))
    return left


def test_old_temporary_folders_are_removed(tmp_path: Path) -> None:
    """Those of the store; younger ones stay."""
    young = left_behind(tmp_path / "store" / "a", limits.ABANDONED_STEP_SECONDS - 60)
    old = left_behind(tmp_path / "store" / "b", limits.ABANDONED_STEP_SECONDS + 60)
    Store(tmp_path / "store").check_writable()
    assert (young.exists(), old.exists()) == (True, False)


def test_a_fetch_waits_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the error names the folder; the lock of another process is of SQLite."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path))
    monkeypatch.setattr(limits, "FETCH_WAIT_SECONDS", 0)
    with download.one_fetch(), pytest.raises(ModelFileError, match="for 0 seconds; end it"):
        files.fetch("splade-tiny")
    with download.one_fetch():
        assert (tmp_path / "fetch.lock").exists()


def test_indexes_of_a_kind_are_kept_up_to_a_maximum() -> None:
    """One index more drops the oldest, which is built again."""
    cache, built = IndexCache(), list[int]()
    for number in (*range(limits.CACHED_INDEXES + 1), 1, 0):
        cache.get("bm25", number, partial(built.append, number))
    assert built == [*range(limits.CACHED_INDEXES + 1), 0]


def test_small_blocks_of_memory_change_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours, rankings and resamples are equal."""
    rows = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    documents = np.arange(0, 301, 5)
    index = Postings.of_rows(documents, np.arange(300) % 5, np.abs(rows[:, 0]), vocabulary=5)

    def results() -> str:
        near = list(nearest(rows[:9], Vectors([rows], 4, longest(rows)), 3))
        found = index.search([0, 1, 2], [1.0, 2.0, 3.0], 4)
        counts = np.concatenate(list(Bootstrap(resamples=20).counts(7)))
        arrays = [*(a.places for a in near), *found, counts]
        return json.dumps([array.tolist() for array in arrays])

    expected = results()
    for name in ("KNN_SCORES", "FREQUENT_TERM_BYTES", "INDEX_PART_PASSAGES", "RESAMPLED_COUNTS"):
        monkeypatch.setattr(limits, name, 1)
    index.__dict__.pop("_rows", None)
    assert results() == expected


def test_texts_are_encoded_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk of pairs has a maximum of texts, a batch of the model a maximum of tokens."""
    monkeypatch.setattr(limits, "ENCODED_TEXTS", 3)
    monkeypatch.setattr(limits, "ENCODER_BATCH_TOKENS", 4)
    pairs = [("a", "b"), ("c", "b"), ("d", "e")]
    assert list(bert_encoder._chunks(pairs)) == [pairs[:2], pairs[2:]]
    tokens = {"a": [1], "b": [1, 2], "c": [1, 2]}
    assert list(bert_encoder._batches("abc", tokens)) == [["a", "b"], ["c"]]


def test_token_vectors_of_later_pairs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those without a later pair are dropped, and above the maximum those that are needed last."""
    monkeypatch.setattr(limits, "HELD_STATES", 8)
    held = bert_encoder.HeldStates.of([("a", "b"), ("c", "b"), ("d", "c"), ("d", "a "), ("a", "e")])
    states = bert_encoder.States(np.ones((2, 2), np.float32), np.ones(2, bool))
    held.held = dict.fromkeys(["a", "b", "c"], states)
    held.drop(1)
    assert sorted(held.held) == ["b", "c"]
    held.drop(2)
    assert sorted(held.held) == ["c"]
    held.held["d"] = held.held["a"] = states
    held.drop(3)
    assert sorted(held.held) == ["a", "d"]
    held.drop(5)
    assert not held.held
