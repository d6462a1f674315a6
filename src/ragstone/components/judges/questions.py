"""Asking a judge's model, and asking again: what all judges have in common below their prompts.

A question is asked with a JSON schema where the server takes one. A reply that was cut is asked for
once more with more room, one that cannot be read once more with the reason; what then holds no
verdict has none, with its reason. The first batch is a probe: a model that hardly ever gives a
verdict is stopped there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Protocol, TypeVar

from ragstone.calls.types import Endpoint, Failure, Outcome, Reply, Request, Sampling
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict import Cost
from ragstone.components.judges.verdict_schemas import VerdictSchema
from ragstone.errors import CallError
from ragstone.types import ChatMessage

T = TypeVar("T")

FIRST_BATCH: Final = 20
_MORE_ROOM: Final = 4
_CUT: Final = frozenset({"length", "max_tokens"})
_SCHEMA_REFUSED: Final = frozenset({400, 415, 422, 501})
_SHOWN: Final = 120
CALL_FAILED: Final = "the call failed"
"""How the reason of an item begins whose call had no reply: nothing the model said."""


class Asker(Protocol):
    """What makes the calls: `ragstone.calls.client.Calls`, or a fake of it."""

    def ask(
        self, endpoint: Endpoint, requests: Sequence[Request], *, title: str = ...
    ) -> Iterator[Outcome]:
        """Yield one outcome per request, in order."""
        ...


@dataclass(frozen=True)
class JudgeCall(Generic[T]):
    """One question to the model: what it is shown, and the form of the verdict."""

    messages: tuple[ChatMessage, ...]
    form: VerdictSchema[T]
    material: tuple[str, ...] = ()
    """The texts under judgement: a verdict quoted from them is not the judge's."""
    sample: int = 0


@dataclass
class Answered(Generic[T]):
    """How a question ended."""

    question: JudgeCall[T]
    value: T | None = None
    reason: str = ""
    """Why there is no value."""
    read_at_once: bool = False
    cost: Cost = field(default_factory=Cost)
    reply: str = ""
    called: bool = True
    """False where the call itself failed: that says nothing about the model's format."""

    @property
    def said(self) -> T:
        """The value of a question that has one."""
        if self.value is None:
            raise Unreadable(self.reason)
        return self.value


@dataclass(frozen=True)
class JudgeSettings:
    """How a model is asked."""

    judge: str
    """For messages."""
    endpoint: Endpoint
    sampling: Sampling
    explain: bool = True
    structured: bool | None = None
    """None: where the server takes a schema."""
    least_parse_rate: float = 0.5


def ask_questions(
    questions: Sequence[JudgeCall[T]], manner: JudgeSettings, calls: Asker
) -> list[Answered[T]]:
    """Return how each question ended, in order.

    Raises:
        CallError: of the first batch, fewer than the least parse rate could be read; what was
            answered is kept.
    """
    structured = manner.structured
    if structured is None:
        structured = manner.endpoint.protocol == "openai"
    first = _ask(questions[:FIRST_BATCH], manner, calls, structured=structured)
    if structured and manner.structured is None and any(map(_refused, first)):
        structured = False
        first = _ask(questions[:FIRST_BATCH], manner, calls, structured=False)
    _check_parse_rate(first, manner)
    if len(questions) <= FIRST_BATCH:
        return first
    return [*first, *_ask(questions[FIRST_BATCH:], manner, calls, structured=structured)]


def _refused(answered: Answered[Any]) -> bool:
    return not answered.called and answered.reason.startswith("schema refused")


def _check_parse_rate(first: Sequence[Answered[Any]], manner: JudgeSettings) -> None:
    called = [one for one in first if one.called]
    read = sum(one.value is not None for one in called)
    if len(called) < FIRST_BATCH or read >= manner.least_parse_rate * len(called):
        return
    example = next(one for one in called if one.value is None)
    raise CallError(
        f"judge {manner.judge!r}: {read} of the first {len(called)} replies of "
        f"{manner.endpoint.model!r} hold a verdict, fewer than least_parse_rate "
        f"{manner.least_parse_rate:g}. One says {example.reply[:_SHOWN]!r} ({example.reason}). "
        "What was answered is kept; take another model, let the server enforce the form with "
        "structured: true, or lower least_parse_rate"
    )


def _ask(
    questions: Sequence[JudgeCall[T]], manner: JudgeSettings, calls: Asker, *, structured: bool
) -> list[Answered[T]]:
    """Ask, and ask again what was cut or could not be read, each at most once."""
    ended = [Answered(question) for question in questions]
    waiting = [(place, _request(q, manner, structured)) for place, q in enumerate(questions)]
    asked_again: dict[str, set[int]] = {"room": set(), "error": set()}
    attempt = 0
    while waiting:
        again: list[tuple[int, Request]] = []
        title = f"verdicts of {manner.judge}" + (", asked again" if attempt else "")
        outcomes = calls.ask(manner.endpoint, [request for _, request in waiting], title=title)
        for (place, request), outcome in zip(waiting, outcomes, strict=True):
            why = _take(ended[place], outcome, request, first=not attempt)
            if why and place not in asked_again[why]:
                asked_again[why].add(place)
                again.append((place, _once_more(request, ended[place], why)))
        waiting, attempt = again, attempt + 1
    return ended


def _request(question: JudgeCall[Any], manner: JudgeSettings, structured: bool) -> Request:
    schema = question.form.schema(explain=manner.explain) if structured else None
    sampling = replace(manner.sampling, json_schema=schema)
    return Request(question.messages, sampling, question.sample)


def _take(ended: Answered[T], outcome: Outcome, request: Request, *, first: bool) -> str:
    """Note an outcome; return why it is worth asking again: "room", "error" or ""."""
    if isinstance(outcome, Failure):
        ended.called = False
        refused = outcome.status in _SCHEMA_REFUSED and request.sampling.json_schema is not None
        ended.reason = ("schema refused: " if refused else f"{CALL_FAILED}: ") + outcome.reason
        return ""
    ended.cost += _cost(outcome)
    ended.reply = outcome.text
    form = ended.question.form
    if outcome.finish_reason in _CUT and not form.cut_is_whole:
        ended.reason = f"the reply was cut after {request.sampling.max_tokens} tokens"
        return "room"
    try:
        ended.value = form.of_reply(outcome, ended.question.material)
    except Unreadable as error:
        ended.reason = f"{error}: {outcome.text.strip()[-_SHOWN:]!r}"
        return "error"
    ended.reason, ended.read_at_once = "", first
    return ""


def _cost(reply: Reply) -> Cost:
    return Cost(1, reply.tokens_in or 0, reply.tokens_out or 0, reply.seconds or 0.0)


def _once_more(request: Request, ended: Answered[Any], why: str) -> Request:
    if why == "room":
        room = (request.sampling.max_tokens or 0) * _MORE_ROOM or None
        return replace(request, sampling=replace(request.sampling, max_tokens=room))
    problem = ended.reason.partition(": '")[0]
    complaint = (
        f"Your reply could not be read: {problem}. Give only the verdict now, without quoting. "
        f"{ended.question.form.wording()}."
    )
    said = (("assistant", ended.reply or "(nothing)"), ("user", complaint))
    return replace(request, messages=(*request.messages, *said))
