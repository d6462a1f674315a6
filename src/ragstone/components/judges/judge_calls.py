"""The calls of a judge: asking its model, and asking again.

A call has a JSON schema if the server takes one. A truncated reply is asked for once more with a
larger limit, an unreadable one once more with the reason; what is still unreadable then has no
verdict. The first batch is a probe: a model that rarely gives a verdict is stopped there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Literal, TypeVar

from ragstone.calls.types import Failure, Outcome, Reply, Request
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict import Cost
from ragstone.components.judges.verdict_schemas import VerdictSchema
from ragstone.components.llm import LlmBackend
from ragstone.core import limits
from ragstone.errors import CallError
from ragstone.protocols import Services
from ragstone.types import ChatMessage

T = TypeVar("T")

FIRST_BATCH: Final = 20
_LARGER_LIMIT: Final = 4
_TRUNCATED: Final = frozenset({"length", "max_tokens"})
_SCHEMA_REFUSED: Final = frozenset({400, 415, 422, 501})


@dataclass(frozen=True)
class JudgeCall(Generic[T]):
    """One question to the model: the prompt, and the schema of the verdict."""

    messages: tuple[ChatMessage, ...]
    schema: VerdictSchema[T]
    material: tuple[str, ...] = ()
    """The texts under judgement: a verdict quoted from them is not the judge's."""
    sample: int = 0


@dataclass
class JudgeReply(Generic[T]):
    """The result of a call, after asking again if needed."""

    call: JudgeCall[T]
    value: T | None = None
    reason: str = ""
    """Why there is no value."""
    read_at_once: bool = False
    cost: Cost = field(default_factory=Cost)
    text: str = ""
    status: Literal["replied", "failed", "schema refused"] = "replied"
    """Whether there was a reply; a failed call is no evidence about the model's format."""


@dataclass(frozen=True)
class JudgeSettings:
    """The model of a judge, and how its verdicts are requested."""

    judge: str
    """The judge's name, for messages."""
    backend: LlmBackend
    explain: bool = True
    structured: bool | None = None
    """Whether a JSON schema is sent; if None, it is sent to servers that take one."""
    least_parse_rate: float = 0.5


def make_calls(
    calls: Sequence[JudgeCall[T]], settings: JudgeSettings, services: Services
) -> list[JudgeReply[T]]:
    """Return the result of each call, in order.

    Raises:
        CallError: fewer replies of the first batch could be read than `least_parse_rate`; the
            replies are kept.
    """
    structured = settings.structured
    if structured is None:
        structured = settings.backend.endpoint.protocol == "openai"
    first = _ask(calls[:FIRST_BATCH], settings, services, structured=structured)
    refused = any(reply.status == "schema refused" for reply in first)
    if refused and settings.structured is None:
        structured = False
        first = _ask(calls[:FIRST_BATCH], settings, services, structured=False)
    _check_parse_rate(first, settings)
    if len(calls) <= FIRST_BATCH:
        return first
    return [*first, *_ask(calls[FIRST_BATCH:], settings, services, structured=structured)]


def _check_parse_rate(first: Sequence[JudgeReply[Any]], settings: JudgeSettings) -> None:
    replies = [reply for reply in first if reply.status == "replied"]
    read = sum(reply.value is not None for reply in replies)
    if len(replies) < FIRST_BATCH or read >= settings.least_parse_rate * len(replies):
        return
    example = next(reply for reply in replies if reply.value is None)
    raise CallError(
        f"judge {settings.judge!r}: {read} of the first {len(replies)} replies of "
        f"{settings.backend.endpoint.model!r} have a verdict, fewer than least_parse_rate "
        f"{settings.least_parse_rate:g}. One is "
        f"{example.text[: limits.MAX_EXCERPT_CHARACTERS]!r} ({example.reason}). "
        "The replies are kept; use another model, let the server enforce the schema with "
        "structured: true, or lower least_parse_rate"
    )


def _ask(
    calls: Sequence[JudgeCall[T]], settings: JudgeSettings, services: Services, *, structured: bool
) -> list[JudgeReply[T]]:
    """Ask, and ask again what was truncated or unreadable, at most once for each cause."""
    replies = [JudgeReply(call) for call in calls]
    waiting = [(place, _request(call, settings, structured)) for place, call in enumerate(calls)]
    asked_again: dict[str, set[int]] = {"truncated": set(), "unreadable": set()}
    title = f"verdicts of {settings.judge}"
    while waiting:
        again: list[tuple[int, Request]] = []
        requests = [request for _, request in waiting]
        outcomes = settings.backend.ask(requests, services, title=title)
        for (place, request), outcome in zip(waiting, outcomes, strict=True):
            cause = _read(replies[place], outcome, request)
            if cause and place not in asked_again[cause]:
                asked_again[cause].add(place)
                again.append((place, _once_more(request, replies[place], cause)))
        waiting, title = again, f"verdicts of {settings.judge}, asked again"
    return replies


def _request(call: JudgeCall[Any], settings: JudgeSettings, structured: bool) -> Request:
    schema = call.schema.json_schema(explain=settings.explain) if structured else None
    sampling = replace(settings.backend.sampling, json_schema=schema)
    return Request(call.messages, sampling, call.sample)


def _read(reply: JudgeReply[T], outcome: Outcome, request: Request) -> str:
    """Read an outcome into a reply; return why to ask again: "truncated", "unreadable" or ""."""
    if isinstance(outcome, Failure):
        refused = outcome.status in _SCHEMA_REFUSED and request.sampling.json_schema is not None
        reply.status = "schema refused" if refused else "failed"
        reply.reason = f"{'schema refused' if refused else 'the call failed'}: {outcome.reason}"
        return ""
    first = not reply.cost.calls
    reply.cost += _cost(outcome)
    reply.text = outcome.text
    if outcome.finish_reason in _TRUNCATED and not reply.call.schema.truncation_ok:
        reply.reason = f"the reply was cut after {request.sampling.max_tokens} tokens"
        return "truncated"
    try:
        reply.value = reply.call.schema.parse(outcome, reply.call.material)
    except Unreadable as error:
        reply.reason = f"{error}: {outcome.text.strip()[-limits.MAX_EXCERPT_CHARACTERS :]!r}"
        return "unreadable"
    reply.reason, reply.read_at_once = "", first
    return ""


def _cost(reply: Reply) -> Cost:
    return Cost(1, reply.tokens_in or 0, reply.tokens_out or 0, reply.seconds or 0.0)


def _once_more(request: Request, reply: JudgeReply[Any], cause: str) -> Request:
    if cause == "truncated":
        limit = (request.sampling.max_tokens or 0) * _LARGER_LIMIT or None
        return replace(request, sampling=replace(request.sampling, max_tokens=limit))
    problem = reply.reason.partition(": '")[0]
    complaint = (
        f"Your reply could not be read: {problem}. Give only the verdict now, without quoting. "
        f"{reply.call.schema.wording()}."
    )
    turns = (("assistant", reply.text or "(nothing)"), ("user", complaint))
    return replace(request, messages=(*request.messages, *turns))
