"""A judge's model that is no model: its verdicts are written down, its errors have known rates."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.calls.types import Endpoint, Outcome, Reply, Request


def chance(*made_of: object) -> float:
    """Return a number from 0 to 1 that looks random and depends on its arguments alone.

    >>> chance("a") == chance("a") != chance("b")
    True
    """
    drawn = hashlib.sha256("\n".join(map(str, made_of)).encode()).digest()
    return int.from_bytes(drawn[:8], "big") / 2**64


@dataclass
class ScriptedCalls:
    """Stands in for `Calls`: answers every request from a function, and remembers them.

    >>> from ragstone.calls.types import chat
    >>> calls = ScriptedCalls(lambda request: "Verdict: yes")
    >>> [reply.text for reply in calls.ask(Endpoint("m", ("http://localhost/v1",)), [chat("?")])]
    ['Verdict: yes']
    """

    answer: Callable[[Request], str | Outcome]
    asked: list[Request] = field(default_factory=list)

    def ask(
        self, endpoint: Endpoint, requests: Sequence[Request], *, title: str = ""
    ) -> Iterator[Outcome]:
        """Yield the scripted outcome of each request; a text becomes a finished reply."""
        for request in requests:
            self.asked.append(request)
            said = self.answer(request)
            yield Reply(said, "stop", 100, 5, 0.01) if isinstance(said, str) else said


@dataclass(frozen=True)
class ScriptedVerdicts:
    """Answers as a judge's model would that is wrong at known rates.

    Used as the answer of `ScriptedCalls`.

    Args:
        truth: a text that stands in the prompt (an answer) -> the right verdict.
        wrong: right verdict -> verdict that is said instead -> how often.
        unreadable: share of the items to which no reply holds a verdict, asked again or not.
        fickle: share of the repeats, after the first, that say another verdict than the first.
        seed: which items the errors befall.
    """

    truth: Mapping[str, str]
    wrong: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unreadable: float = 0.0
    fickle: float = 0.0
    seed: int = 0

    def __call__(self, request: Request) -> str:
        """Return the reply to a request."""
        prompt = next(text for role, text in request.messages if role == "user")
        return self.reply(prompt, request.sample)

    def reply(self, prompt: str, sample: int) -> str:
        """Return what is said to a prompt at one repeat."""
        known = next((text for text in self.truth if text in prompt), None)
        if known is None or chance("unreadable", known, self.seed) < self.unreadable:
            return "It is hard to say."
        said = self._said(known)
        if sample and chance("fickle", known, sample, self.seed) < self.fickle:
            others = sorted(set(self.truth.values()) - {said})
            said = others[0] if others else said
        return f"I looked at it. Verdict: [[{said}]]"

    def _said(self, known: str) -> str:
        right, drawn = self.truth[known], chance("wrong", known, self.seed)
        for verdict, rate in self.wrong.get(right, {}).items():
            drawn -= rate
            if drawn < 0:
                return verdict
        return right
