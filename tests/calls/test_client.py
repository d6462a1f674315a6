"""Calls: stored before counted, made once, in order, and finished by a reply or a reason."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.calls.client import Calls
from ragstone.calls.log import CallLog
from ragstone.calls.scheduler import RetryPolicy
from ragstone.calls.types import Endpoint, Failure, Outcome, Reply, Request, chat
from ragstone.calls.wire_formats import OpenAIFormat
from ragstone.core.progress import SilentBar, shown_by
from ragstone.errors import CallError, ConfigError, StoreError
from ragstone.testing.fake_model_server import FakeModelServer, prompt_mark

QUICK = RetryPolicy(timeout=30.0, deadline=60.0, attempts=4, first_wait=0.01, longest_wait=0.02)


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Calls with a fresh log and short time-outs."""
    with Calls(CallLog(tmp_path / "calls.sqlite"), retry_policy=QUICK) as opened:
        yield opened


def questions(count: int) -> list[Request]:
    """Return `count` different requests."""
    return [chat(f"question {number}", max_tokens=8) for number in range(count)]


def endpoint(server: FakeModelServer, api_key_env: str = "") -> Endpoint:
    """Return the endpoint of a fake server."""
    return Endpoint("fake", (server.url,), api_key_env=api_key_env)


def expected(request: Request) -> str:
    """Return the fake server's answer."""
    messages = [{"role": role, "content": text} for role, text in request.messages]
    return f"answer {prompt_mark(messages)}"


def texts(outcomes: Iterator[Outcome]) -> list[str | None]:
    """Return the replies' texts, None for a failure."""
    return [outcome.text if isinstance(outcome, Reply) else None for outcome in outcomes]


def only_failure(outcomes: Iterator[Outcome]) -> Failure:
    """Return the only outcome, which is a failure."""
    (outcome,) = outcomes
    assert isinstance(outcome, Failure)
    return outcome


def test_replies_come_in_the_order_of_the_requests(calls: Calls) -> None:
    """Outcomes have the order of the requests, whichever reply arrives first."""
    requests = questions(100)
    with FakeModelServer(faults={"slow": 0.3}, slow_seconds=0.02) as server:
        assert texts(calls.ask(endpoint(server), requests)) == [expected(r) for r in requests]


def test_a_stored_reply_is_not_requested_again(calls: Calls) -> None:
    """The second time no request is sent, and the reply is equal in every field."""
    with FakeModelServer() as server:
        first = list(calls.ask(endpoint(server), questions(5)))
        again = list(calls.ask(endpoint(server), questions(5)))
        assert sum(server.asked.values()) == 5
    assert again == first
    assert calls.usage.asked == 5
    assert calls.usage.kept == 5


def test_equal_requests_of_one_batch_are_one_call(calls: Calls) -> None:
    """Duplicates share a reply; another sample number makes another call."""
    first = chat("same")
    other = Request(first.messages, first.sampling, sample=1)
    with FakeModelServer() as server:
        assert len(list(calls.ask(endpoint(server), [first, first, other, first]))) == 4
        assert sum(server.asked.values()) == 2


def test_a_server_on_another_port_is_asked_itself(calls: Calls) -> None:
    """The key contains the whole address, because another model may be there."""
    with FakeModelServer() as server, FakeModelServer() as other:
        for asked in (server, other, server):
            list(calls.ask(endpoint(asked), questions(2)))

        assert (len(server.asked), len(other.asked)) == (2, 2)


def test_every_part_of_a_request_is_in_its_key() -> None:
    """Model, prompt, sampling parameters and sample number each make another key."""
    base = chat("who?", temperature=0.0)
    variants = [
        base.key("model"),
        base.key("other model"),
        chat("who else?", temperature=0.0).key("model"),
        chat("who?", system="Be brief.", temperature=0.0).key("model"),
        chat("who?", temperature=0.5).key("model"),
        chat("who?", temperature=None).key("model"),
        chat("who?", temperature=0.0, logprobs=0).key("model"),
        chat("who?", temperature=0.0, stop=("\n",)).key("model"),
        Request(base.messages, base.sampling, sample=1).key("model"),
    ]
    assert len(set(variants)) == len(variants)
    assert chat("who?", temperature=0.0).key("model") == base.key("model")


@pytest.mark.parametrize(
    "fault",
    [
        "429",
        "429-retry-after",
        "500",
        "503",
        "cut",
        "cut-body",
        "truncated-json",
        "invalid-json",
        "empty-choices",
        "wrong-type",
        "huge",
    ],
)
def test_a_transient_fault_is_retried(calls: Calls, fault: str) -> None:
    """A transient fault costs another attempt, not the call."""
    with FakeModelServer(script=[fault]) as server:
        (outcome,) = calls.ask(endpoint(server), questions(1))
        assert isinstance(outcome, Reply), outcome
        assert outcome.attempts == 2
        assert server.met[fault] == 1


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("400", "cannot be served"),
        ("400-context", "longer than the model's context"),
        ("302", "use that address"),
    ],
)
def test_a_permanent_refusal_is_not_retried(calls: Calls, fault: str, cause: str) -> None:
    """A refusal of one call is a failure with its likely cause, after the first attempt."""
    with FakeModelServer(script=[fault]) as server:
        failure = only_failure(calls.ask(endpoint(server), questions(1)))
        assert sum(server.asked.values()) == 1
    assert cause in failure.reason
    assert failure.attempts == 1


@pytest.mark.parametrize(
    ("fault", "cause"),
    [("401", "requires an API key"), ("404", "check base_url"), ("402-quota", "no credit left")],
)
def test_a_fault_of_every_call_stops_the_run(calls: Calls, fault: str, cause: str) -> None:
    """A wrong key, an unknown model or an empty account is an error, not a thousand failures."""
    with (
        FakeModelServer(faults={fault: 1.0}, delay=0.01) as server,
        pytest.raises(CallError, match=cause),
    ):
        list(calls.ask(endpoint(server), questions(300)))
    assert sum(server.asked.values()) < 100


def test_repeated_failures_stop_the_run(calls: Calls) -> None:
    """After 25 calls in a row at a failing server the run stops, and earlier replies are kept."""
    good, bad = questions(10), [chat(f"bad {n}") for n in range(200)]
    with FakeModelServer() as server:
        one = replace(endpoint(server), identity="the model")
        list(calls.ask(one, good))
    with FakeModelServer(faults={"500": 1.0}) as server:
        moved = replace(endpoint(server), identity="the model")
        with pytest.raises(CallError, match="calls in a row failed"):
            list(calls.ask(moved, good + bad))
    assert calls.estimate(moved, good).kept == 10


def test_failures_of_single_items_do_not_stop_the_run(calls: Calls) -> None:
    """A server that refuses each prompt works: every call ends with its own reason."""
    with FakeModelServer(faults={"400": 1.0}) as server:
        outcomes = list(calls.ask(endpoint(server), questions(60)))
    assert [isinstance(outcome, Failure) for outcome in outcomes] == [True] * 60


def test_a_failed_call_is_made_again_on_the_next_run(calls: Calls) -> None:
    """A failure is stored with its reason, and a later reply replaces it."""
    with FakeModelServer(script=["400"]) as server:
        only_failure(calls.ask(endpoint(server), questions(1)))
        assert calls.estimate(endpoint(server), questions(1)).kept == 0
        assert texts(calls.ask(endpoint(server), questions(1))) == [expected(questions(1)[0])]
    assert calls.usage.failed == 1


def test_all_calls_respect_retry_after(tmp_path: Path) -> None:
    """No request arrives before the end of the requested pause."""
    arrivals: list[float] = []

    def answer(_messages: object) -> str:
        arrivals.append(time.monotonic())
        return "yes"

    with (
        FakeModelServer(answer=answer, script=["429-retry-after"], retry_after="0.4") as server,
        Calls(CallLog(tmp_path / "log"), retry_policy=QUICK, max_concurrency=1) as calls,
    ):
        started = time.monotonic()
        list(calls.ask(endpoint(server), questions(3)))
    assert len(arrivals) == 3
    assert min(arrivals) - started > 0.39


def test_a_hanging_call_ends_after_its_attempts(tmp_path: Path) -> None:
    """A server that never answers leads to a failure with a reason."""
    policy = RetryPolicy(timeout=0.2, deadline=60.0, attempts=3, first_wait=0.01)
    with (
        FakeModelServer(faults={"hang": 1.0}) as server,
        Calls(CallLog(tmp_path / "log"), retry_policy=policy) as calls,
    ):
        failure = only_failure(calls.ask(endpoint(server), questions(1)))
    assert "no reply from fake at http://127.0.0.1" in failure.reason
    assert failure.attempts == 3


def test_a_call_that_hung_once_is_retried(tmp_path: Path) -> None:
    """The attempt ends at its time-out, and the next one returns the reply."""
    policy = RetryPolicy(timeout=1.0, first_wait=0.01)
    with (
        FakeModelServer(script=["hang"]) as server,
        Calls(CallLog(tmp_path / "log"), retry_policy=policy) as calls,
    ):
        assert texts(calls.ask(endpoint(server), questions(1))) == [expected(questions(1)[0])]


def test_a_call_ends_at_its_deadline_before_its_attempts(tmp_path: Path) -> None:
    """The deadline ends a call although a hundred attempts are allowed."""
    policy = RetryPolicy(timeout=0.2, deadline=1.0, attempts=100, first_wait=0.01)
    with (
        FakeModelServer(faults={"hang": 1.0}) as server,
        Calls(CallLog(tmp_path / "log"), retry_policy=policy) as calls,
    ):
        assert only_failure(calls.ask(endpoint(server), questions(1))).attempts < 10


def test_a_pause_beyond_the_deadline_is_a_failure(calls: Calls) -> None:
    """Retry-After of an hour is a failure now, without waiting."""
    with FakeModelServer(faults={"429-retry-after": 1.0}, retry_after="3600") as server:
        failure = only_failure(calls.ask(endpoint(server), questions(1)))
    assert "429" in failure.reason


def test_concurrency_adapts_to_the_server(tmp_path: Path) -> None:
    """A small server receives few calls at once, and every call gets its reply."""
    with (
        FakeModelServer(capacity=5, delay=0.005) as server,
        Calls(CallLog(tmp_path / "log"), retry_policy=QUICK, max_concurrency=64) as calls,
    ):
        assert None not in texts(calls.ask(endpoint(server), questions(300)))
        assert server.peak <= 64
        assert server.met["429"] < 150
    with (
        FakeModelServer(delay=0.02) as roomy,
        Calls(CallLog(tmp_path / "other"), retry_policy=QUICK, max_concurrency=32) as calls,
    ):
        list(calls.ask(endpoint(roomy), questions(300)))
        assert 8 < roomy.peak <= 32


def test_a_pool_shares_the_calls_and_survives_a_dead_server(calls: Calls) -> None:
    """Calls go to the least busy server; an unreachable one is left out."""
    with FakeModelServer(delay=0.005) as one, FakeModelServer(delay=0.005) as two:
        pool = Endpoint("fake", (one.url, two.url, "http://127.0.0.1:9/v1"))
        assert None not in texts(calls.ask(pool, questions(100)))
        assert sum(one.asked.values()) > 20
        assert sum(two.asked.values()) > 20


def test_leaving_early_keeps_the_replies_so_far(calls: Calls) -> None:
    """After an early exit the outcomes read so far are stored, and few other calls were made."""
    with FakeModelServer(delay=0.01) as server:
        some = list(itertools.islice(calls.ask(endpoint(server), questions(500)), 20))
        assert len(some) == 20
        assert calls.estimate(endpoint(server), questions(20)).kept == 20
        assert sum(server.asked.values()) < 400


def test_a_replay_makes_no_call(tmp_path: Path) -> None:
    """Stored replies need no server; a missing reply is an error."""
    with FakeModelServer() as server, Calls(CallLog(tmp_path / "log")) as calls:
        first = list(calls.ask(endpoint(server), questions(3)))
    with Calls(CallLog(tmp_path / "log"), replay_only=True) as calls:
        assert list(calls.ask(endpoint(server), questions(3))) == first
        with pytest.raises(CallError, match="1 reply of fake"):
            list(calls.ask(endpoint(server), questions(4)))


def test_offline_refuses_every_other_machine(tmp_path: Path) -> None:
    """Offline, a remote model is refused before a name is resolved; a local one is called."""
    with (
        FakeModelServer() as server,
        Calls(CallLog(tmp_path / "log"), retry_policy=QUICK, offline=True) as calls,
    ):
        remote = Endpoint("big", ("https://models.example/v1",))
        with pytest.raises(CallError, match="offline: big at"):
            list(calls.ask(remote, questions(1)))
        assert texts(calls.ask(endpoint(server), questions(1))) == [expected(questions(1)[0])]


def test_the_key_appears_nowhere(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API key is sent, and neither the log nor an error nor a repr contains it."""
    secret = "sk-very-secret-0123456789"  # noqa: S105 - made up
    monkeypatch.setenv("FAKE_KEY", secret)
    received: list[str] = []

    def echo(_messages: object) -> str:
        received.append("request")
        return f"your key is {secret}"

    with FakeModelServer(answer=echo, api_key=secret) as server:
        (reply,) = calls.ask(endpoint(server, api_key_env="FAKE_KEY"), questions(1))
        assert received
        assert isinstance(reply, Reply)
        assert reply.text == "your key is ***"
        monkeypatch.setenv("FAKE_KEY", "sk-wrong-secret-987654321")
        wrong = Endpoint("other", (server.url,), api_key_env="FAKE_KEY")
        with pytest.raises(CallError, match="the value of FAKE_KEY is wrong") as caught:
            list(calls.ask(wrong, questions(1)))
    calls.log.close()
    stored = b"".join(p.read_bytes() for p in calls.log.path.parent.iterdir())
    for hidden in (secret, "sk-wrong-secret-987654321"):
        assert hidden.encode() not in stored
        assert hidden not in str(caught.value)
        assert hidden not in repr(calls.__dict__)


def test_an_unset_key_is_a_config_error(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the variable, before any request is sent."""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with FakeModelServer() as server:
        with pytest.raises(ConfigError, match="export NO_SUCH_KEY"):
            list(calls.ask(endpoint(server, api_key_env="NO_SUCH_KEY"), questions(1)))
        assert not server.asked


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "https://me:pw@host/v1", ""])
def test_a_base_url_must_be_an_address_without_secrets(url: str) -> None:
    """A wrong address is an error when the endpoint is created; no password is repeated."""
    with pytest.raises(ConfigError, match="base_url") as caught:
        Endpoint("fake", (url,))
    assert "pw" not in str(caught.value)


def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    """If the connection is refused, the reason names the address."""
    policy = RetryPolicy(attempts=2, first_wait=0.01, give_up_after=3)
    unreachable = Endpoint("fake", ("http://127.0.0.1:9/v1",))
    with (
        Calls(CallLog(tmp_path / "log"), retry_policy=policy) as calls,
        pytest.raises(CallError, match=r"cannot connect to http://127\.0\.0\.1:9/v1"),
    ):
        list(calls.ask(unreachable, questions(30)))


def test_failures_in_a_row_are_counted_over_small_steps(tmp_path: Path) -> None:
    """A server that is off stops the steps of a campaign, however few queries each has."""
    policy = RetryPolicy(attempts=1, first_wait=0.01, give_up_after=3)
    unreachable = Endpoint("fake", ("http://127.0.0.1:9/v1",))
    with Calls(CallLog(tmp_path / "log"), retry_policy=policy) as calls:
        assert all(isinstance(one, Failure) for one in calls.ask(unreachable, questions(2)))
        with pytest.raises(CallError, match="3 calls in a row failed"):
            list(calls.ask(unreachable, questions(4)))


def test_local_servers_start_only_when_a_reply_is_missing(calls: Calls) -> None:
    """Stored replies need no server; the pool starts with the first missing reply."""
    started: list[str] = []
    with FakeModelServer() as server:

        class Pool:
            urls = (server.url,)
            api_key = ""

            def close(self) -> None:
                started.append("closed")

        def serve() -> Pool:
            started.append("started")
            return Pool()

        local = Endpoint("here", identity="gguf:1", serve=serve)
        list(calls.ask(local, questions(2)))
        list(calls.ask(local, questions(2)))
        assert started == ["started"]


def served_here(*servers: FakeModelServer) -> Endpoint:
    """Return an endpoint with local servers."""

    class Pool:
        urls = tuple(server.url for server in servers)
        api_key = ""

        def close(self) -> None:
            """Do nothing: the test stops the servers."""

    return Endpoint("here", identity="gguf:1", serve=Pool)


def test_a_slow_local_model_gets_the_whole_deadline(tmp_path: Path) -> None:
    """Calls that take longer than the time-out are made once, and none fails."""
    policy = RetryPolicy(timeout=0.05, deadline=60.0, attempts=2, first_wait=0.01)
    with (
        FakeModelServer(delay=0.15) as one,
        FakeModelServer(delay=0.15) as two,
        Calls(CallLog(tmp_path / "log"), retry_policy=policy) as calls,
    ):
        outcomes = list(calls.ask(served_here(one, two), questions(6)))
        assert [outcome.attempts for outcome in outcomes if isinstance(outcome, Reply)] == [1] * 6
        assert sum(one.asked.values()) == sum(two.asked.values()) == 3
        assert one.peak == two.peak == 1


def test_the_attempt_after_a_time_out_goes_to_another_server(tmp_path: Path) -> None:
    """If the first server of a pool is silent, the second one gets the next attempt."""
    policy = RetryPolicy(timeout=0.3, deadline=60.0, attempts=2, first_wait=0.01)
    with (
        FakeModelServer(faults={"hang": 1.0}) as silent,
        FakeModelServer() as lively,
        Calls(CallLog(tmp_path / "log"), retry_policy=policy, max_concurrency=1) as calls,
    ):
        pool = Endpoint("fake", (silent.url, lively.url))
        assert None not in texts(calls.ask(pool, questions(4)))
        assert sum(silent.asked.values()) == 1


@pytest.mark.parametrize("seed", range(4))
def test_many_small_batches_under_faults_all_end(tmp_path: Path, seed: int) -> None:
    """Batch after batch, as a live conversation makes them, while the servers fail at random."""
    policy = RetryPolicy(
        timeout=0.2, deadline=60.0, attempts=40, first_wait=0.005, longest_wait=0.02
    )
    faults = {"503": 0.1, "429": 0.1, "cut": 0.1, "slow": 0.05, "hang": 0.02, "cut-body": 0.05}
    with (
        FakeModelServer(faults=faults, seed=seed, slow_seconds=0.05) as one,
        FakeModelServer(faults=faults, seed=seed + 9, slow_seconds=0.05) as two,
        Calls(CallLog(tmp_path / "log"), retry_policy=policy, max_concurrency=4) as calls,
    ):
        pool = Endpoint("fake", (one.url, two.url))
        for turn in range(30):
            requests = [chat(f"turn {turn} of {talk}") for talk in range(1 + turn % 5)]
            assert texts(calls.ask(pool, requests)) == [expected(r) for r in requests]
        pace = calls._client(pool).pace
        assert pace.limit >= 1
        deadline = time.monotonic() + 10.0
        while pace.active and time.monotonic() < deadline:
            time.sleep(0.01)
        assert pace.active == 0


def test_a_display_that_breaks_stops_the_run_instead_of_hanging_it(calls: Calls) -> None:
    """The caller receives an error if an outcome cannot be counted."""

    class BrokenBar(SilentBar):
        """A bar on a closed terminal."""

        def advance(self, count: int = 1) -> None:
            """Raise the error of a closed pipe."""
            raise BrokenPipeError(32, "Broken pipe")

    with (
        FakeModelServer() as server,
        shown_by(lambda _title, _total: BrokenBar()),
        pytest.raises(StoreError, match=r"Broken pipe.*run the same command again"),
    ):
        list(calls.ask(endpoint(server), questions(3)))


def test_an_anthropic_style_server_is_supported(calls: Calls) -> None:
    """The system text is sent separately, and the blocks of the reply become one text."""
    with FakeModelServer() as server:
        anthropic = Endpoint("fake", (server.url,), protocol="anthropic")
        (reply,) = calls.ask(anthropic, [chat("who?", system="Be brief.", stop=("x",))])
        assert isinstance(reply, Reply)
        assert reply.text.startswith("answer ")
        assert reply.finish_reason == "end_turn"
        (body,) = server.bodies
        assert body["system"] == "Be brief."
        assert body["stop_sequences"] == ["x"]


def test_sampling_parameters_reach_the_server(calls: Calls) -> None:
    """The body contains sampling parameters by the protocol's names; None is left out."""
    schema = {"type": "object"}
    request = chat("q", seed=7, top_p=0.9, logprobs=2, json_schema=schema, extra={"x": 1})
    with FakeModelServer() as server:
        (reply,) = calls.ask(endpoint(server), [request])
        (body,) = server.bodies
    assert isinstance(reply, Reply)
    assert [token.token for token in reply.logprobs] == reply.text.split()
    assert (body["seed"], body["top_p"], body["top_logprobs"], body["x"]) == (7, 0.9, 2, 1)
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert "stop" not in body


def test_a_file_of_another_kind_is_a_store_error(tmp_path: Path) -> None:
    """The error names the unusable file and the remedy."""
    path = tmp_path / "calls.sqlite"
    path.write_bytes(b"not a database, but long enough to be taken for one" * 100)
    with (
        FakeModelServer() as server,
        Calls(CallLog(path)) as calls,
        pytest.raises(StoreError, match="move the file away"),
    ):
        list(calls.ask(endpoint(server), questions(1)))


@pytest.mark.parametrize("obstacle", ["permission", "file", "folder"])
def test_a_log_that_cannot_be_written_is_a_store_error(tmp_path: Path, obstacle: str) -> None:
    """The error names another folder as the way out, for root too, who may not write in /sys."""
    (tmp_path / "taken").touch()
    path = {
        "permission": Path("/sys/calls.sqlite"),
        "file": tmp_path / "taken" / "calls.sqlite",
        "folder": tmp_path,
    }[obstacle]
    with (
        FakeModelServer() as server,
        Calls(CallLog(path), retry_policy=QUICK) as calls,
        pytest.raises(StoreError, match="store=PATH"),
    ):
        list(calls.ask(endpoint(server), questions(1)))


class SlowFormat(OpenAIFormat):
    """A format whose requests take long to encode, as on a busy machine."""

    def body(self, model: str, request: Request) -> bytes:
        """Return the body after a while."""
        time.sleep(0.03)
        return super().body(model, request)


def test_the_delay_before_a_call_is_sent_is_known(calls: Calls) -> None:
    """It is part of the latency, is kept, and is unknown for replies of earlier versions."""
    with FakeModelServer() as server:
        slow = Endpoint("fake", (server.url,), wire=SlowFormat())
        [reply] = calls.ask(slow, questions(1))
    assert isinstance(reply, Reply)
    assert reply.queued is not None
    assert reply.seconds is not None
    assert 0.03 <= reply.queued <= reply.seconds + 1
    assert calls.log.replies([reply.key])[reply.key].queued == reply.queued
