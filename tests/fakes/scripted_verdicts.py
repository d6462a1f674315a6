"""A fake of a judge's model: its verdicts are known, and its errors have known rates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.calls.types import Request


def chance(*made_of: object) -> float:
    """Return a number from 0 to 1 that looks random and depends only on the arguments.

    >>> chance("a") == chance("a") != chance("b")
    True
    """
    drawn = hashlib.sha256("\n".join(map(str, made_of)).encode()).digest()
    return int.from_bytes(drawn[:8], "big") / 2**64


@dataclass(frozen=True)
class ScriptedVerdicts:
    """The replies of a judge's model that is wrong at known rates.

    An `answer` for `ScriptedCalls`.

    Args:
        truth: part of a prompt (an answer) -> the right verdict.
        wrong: right verdict -> wrong verdict in its place -> rate.
        unreadable: share of the items whose replies never have a verdict.
        fickle: share of the repeats, after the first, with another verdict than the first.
        seed: decides which items have errors.
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
        """Return the reply to a prompt at one repeat."""
        known = next((text for text in self.truth if text in prompt), None)
        if known is None or chance("unreadable", known, self.seed) < self.unreadable:
            return "It is hard to say."
        verdict = self._verdict(known)
        if sample and chance("fickle", known, sample, self.seed) < self.fickle:
            others = sorted(set(self.truth.values()) - {verdict})
            verdict = others[0] if others else verdict
        return f"I looked at it. Verdict: [[{verdict}]]"

    def _verdict(self, known: str) -> str:
        right, drawn = self.truth[known], chance("wrong", known, self.seed)
        for verdict, rate in self.wrong.get(right, {}).items():
            drawn -= rate
            if drawn < 0:
                return verdict
        return right
