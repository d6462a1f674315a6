"""The calls of a judge to its model, and their repetition if a reply cannot be read.

A request has a JSON schema if the server accepts one. A truncated reply is requested once more
with a larger limit, and an unreadable one once more with the reason. A reply that is then still
unreadable has no verdict; the next run requests it again. If the model rarely gives a verdict, the
run stops after the first batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Literal, TypeVar

from ragstone.calls.types import Failure, Outcome, Request
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict import Cost, VerdictJudge
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
    """The result of a call, repeated if needed."""

    call: JudgeCall[T]
    value: T | None = None
    reason: str = ""
    """Why there is no value."""
    read_at_once: bool = False
    cost: Cost = field(default_factory=Cost)
    text: str = ""
    keys: tuple[str, ...] = ()
    """Keys of the replies in the call log."""
    status: Literal["replied", "failed", "schema refused"] = "replied"
    """Whether there was a reply; a failed call shows nothing about the model's format."""

    @property
    def is_unreadable(self) -> bool:
        """Whether there was a reply, and no verdict in it."""
        return self.value is None and self.status == "replied"


class CallingJudge(VerdictJudge):
    """A judge that calls models; its fields are declared by `ModelJudge`."""

    explain: bool
    structured: bool | None
    max_tokens: int
    least_parse_rate: float

    @property
    def sampling_changes(self) -> Mapping[str, Any]:
        """The judge's sampling parameters, which replace the model's own."""
        return {"max_tokens": self.max_tokens, "stop": ()}

    def make_calls(
        self, calls: Sequence[JudgeCall[T]], model: LlmBackend, services: Services
    ) -> list[JudgeReply[T]]:
        """Return the result of each call, in order.

        Raises:
            CallError: the share of readable replies in the first batch is below
                `least_parse_rate`; the next run requests the unreadable ones again.
        """
        backend = model.with_sampling(**self.sampling_changes)
        structured = self.structured
        if structured is None:
            structured = backend.endpoint.protocol == "openai"
        first = self._ask(calls[:FIRST_BATCH], backend, services, structured=structured)
        if self.structured is None and any(one.status == "schema refused" for one in first):
            structured = False
            first = self._ask(calls[:FIRST_BATCH], backend, services, structured=False)
        self._check_parse_rate(first, backend)
        rest = calls[FIRST_BATCH:]
        return [*first, *self._ask(rest, backend, services, structured=structured)]

    def _check_parse_rate(self, first: Sequence[JudgeReply[Any]], backend: LlmBackend) -> None:
        replies = [reply for reply in first if reply.status == "replied"]
        read = sum(reply.value is not None for reply in replies)
        if len(replies) < FIRST_BATCH or read >= self.least_parse_rate * len(replies):
            return
        example = next(reply for reply in replies if reply.value is None)
        raise CallError(
            f"judge {self.name!r}: {read} of the first {len(replies)} replies of "
            f"{backend.endpoint.model!r} have a verdict, fewer than least_parse_rate "
            f"{self.least_parse_rate:g}. One is "
            f"{example.text[: limits.MAX_EXCERPT_CHARACTERS]!r} ({example.reason}). "
            "Use another model, let the server enforce the schema with structured: true, or lower "
            "least_parse_rate. The next run requests unreadable replies again"
        )

    def _ask(
        self,
        calls: Sequence[JudgeCall[T]],
        backend: LlmBackend,
        services: Services,
        *,
        structured: bool,
    ) -> list[JudgeReply[T]]:
        """Make the calls; repeat a truncated or unreadable one, at most once for each cause."""
        replies = [JudgeReply(call) for call in calls]
        waiting: list[tuple[int, Request]] = []
        for place, call in enumerate(calls):
            schema = call.schema.json_schema(explain=self.explain) if structured else None
            sampling = replace(backend.sampling, json_schema=schema)
            waiting.append((place, Request(call.messages, sampling, call.sample)))
        asked_again: dict[str, set[int]] = {"truncated": set(), "unreadable": set()}
        title = f"verdicts of {self.name}"
        while waiting:
            again: list[tuple[int, Request]] = []
            outcomes = backend.ask([request for _, request in waiting], services, title=title)
            for (place, request), outcome in zip(waiting, outcomes, strict=True):
                cause = _read(replies[place], outcome, request)
                if cause and place not in asked_again[cause]:
                    asked_again[cause].add(place)
                    again.append((place, _once_more(request, replies[place], cause)))
            waiting, title = again, f"verdicts of {self.name}, asked again"
        unreadable = [reply for reply in replies if reply.is_unreadable]
        keys = [key for reply in unreadable for key in reply.keys]
        if keys:
            services.calls.reject(keys, f"no verdict of {self.name}")
        return replies


def _read(reply: JudgeReply[T], outcome: Outcome, request: Request) -> str:
    """Read an outcome into a reply; return "truncated" or "unreadable" to repeat it, or ""."""
    if isinstance(outcome, Failure):
        refused = outcome.status in _SCHEMA_REFUSED and request.sampling.json_schema is not None
        reply.status = "schema refused" if refused else "failed"
        reply.reason = f"{'schema refused' if refused else 'the call failed'}: {outcome.reason}"
        return ""
    first = not reply.cost.calls
    tokens = outcome.tokens_in or 0, outcome.tokens_out or 0
    reply.cost += Cost(1, *tokens, outcome.seconds or 0.0)
    reply.text, reply.keys = outcome.text, (*reply.keys, outcome.key)
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
