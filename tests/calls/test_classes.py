"""Classes of replies: answered, empty and cut ones are replies, the others are failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Failure, Outcome, Reply, chat
from ragstone.components.generators.chat import Chat
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer, fake_model_server
from ragstone.types import Context, Prediction, Query, Task


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Return calls with a new log."""
    with Calls.at(tmp_path / "calls.sqlite") as made:
        yield made


def openai(content: str | None, finish_reason: str, **message: Any) -> dict[str, Any]:
    """Return a chat completion."""
    choice = {"message": {"content": content, **message}, "finish_reason": finish_reason}
    return {"choices": [choice]}


def anthropic(text: str, stop_reason: str) -> dict[str, Any]:
    """Return a message of Anthropic's protocol."""
    return {"content": [{"type": "text", "text": text}], "stop_reason": stop_reason}


def ask(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, body: dict[str, Any], protocol: str = "openai"
) -> Outcome:
    """Return the outcome of a call whose response has this body."""

    async def reply(*_: object) -> web.Response:
        return web.Response(body=orjson.dumps(body), content_type="application/json")

    monkeypatch.setattr(fake_model_server.FakeModelServer, "_reply", reply)
    with FakeModelServer() as server:
        (outcome,) = calls.ask(Endpoint("m", (server.url,), protocol=protocol), [chat("Why?")])
        assert server.asked.total() == 1
    return outcome


@pytest.mark.parametrize(
    ("body", "protocol", "kind"),
    [
        (openai("Some", "content_filter"), "openai", "filtered"),
        (openai(None, "stop", refusal="I cannot."), "openai", "filtered"),
        (anthropic("", "refusal"), "anthropic", "filtered"),
        (openai(None, "tool_calls", tool_calls=[{"id": "1"}]), "openai", "tool_calls"),
        (openai("Let me look.", "tool_calls"), "openai", "tool_calls"),
        (openai("", "stop", tool_calls=[{"id": "1"}]), "openai", "tool_calls"),
        (anthropic("Let me look.", "tool_use"), "anthropic", "tool_calls"),
    ],
)
def test_a_response_without_an_answer_is_a_failure_of_its_kind(
    calls: Calls,
    monkeypatch: pytest.MonkeyPatch,
    body: dict[str, Any],
    protocol: str,
    kind: str,
) -> None:
    """It is paid for once per run, has a reason, and keeps its kind in the log."""
    outcome = ask(calls, monkeypatch, body, protocol)
    assert isinstance(outcome, Failure)
    assert outcome.kind == kind
    assert "filtered its reply" in outcome.reason or "called a tool" in outcome.reason
    assert calls.log.outcomes([outcome.key], failed_since=0.0) == {outcome.key: outcome}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (openai("Lisbon", "stop"), "answered"),
        (openai(" ", "stop"), "empty"),
        (openai("Lis", "length"), "cut"),
        (openai("", "length"), "cut"),
    ],
)
def test_a_reply_has_a_class(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, body: dict[str, Any], status: str
) -> None:
    """Answered, empty, or cut at the maximum length."""
    outcome = ask(calls, monkeypatch, body)
    assert isinstance(outcome, Reply)
    assert outcome.status == status


@pytest.mark.parametrize("fault", ["invalid-json", "empty-choices", "wrong-type", "truncated-json"])
def test_a_response_that_is_not_a_reply_is_unreadable(calls: Calls, fault: str) -> None:
    """Status 200, but no JSON or no text; a refusal is a plain failure."""
    with FakeModelServer(script=[fault] * 6 + ["400"]) as server:
        endpoint = Endpoint("m", (server.url,))
        calls.retry_policy.__dict__["first_wait"] = 0.001
        (unreadable,) = calls.ask(endpoint, [chat("Why?")])
        (refused,) = calls.ask(endpoint, [chat("How?")])
    assert isinstance(unreadable, Failure)
    assert isinstance(refused, Failure)
    assert (unreadable.kind, refused.kind) == ("unreadable", "failed")


def test_a_prediction_has_the_class_of_its_reply(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The generator passes it on."""

    async def reply(*_: object) -> web.Response:
        body = orjson.dumps(openai("Lis", "length"))
        return web.Response(body=body, content_type="application/json")

    monkeypatch.setattr(fake_model_server.FakeModelServer, "_reply", reply)
    task = Task(Query("q", "Why?"), Context("q", "none"))
    with FakeModelServer(script=["ok", "400"]) as server:
        chat_model = Chat(model="m", base_url=server.url)
        (cut,) = chat_model.generate([task], Services(calls=calls))
        other = Task(Query("r", "How?"), Context("r", "none"))
        (failed,) = chat_model.generate([other], Services(calls=calls))
    assert cut.value is not None
    assert failed.value is not None
    assert (cut.value.answer, cut.value.status) == ("Lis", "cut")
    assert (failed.value.answer, failed.value.status) == (None, "failed")


@pytest.mark.parametrize(
    ("answer", "given", "status"),
    [
        ("Lisbon", "answered", "answered"),
        ("Lisbon", "cut", "cut"),
        ("Lisbon", "failed", "answered"),
        (" ", "answered", "empty"),
        (" ", "cut", "cut"),
        (None, "answered", "failed"),
        (None, "filtered", "filtered"),
        (None, "cut", "failed"),
    ],
)
def test_a_status_fits_the_answer(answer: str | None, given: Any, status: str) -> None:
    """Recorded answers and your own generators need not set it."""
    assert Prediction("q", answer, status=given).status == status
