"""What calls are likely to take, before they are made: tokens, money, time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from ragstone.calls.prices import PromptSize, TokenEstimator
from ragstone.calls.types import Endpoint, Reply, Request

if TYPE_CHECKING:
    from ragstone.calls.log import CallLog
    from ragstone.calls.prices import Prices


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some requests are likely to take; add two for what both take."""

    calls: int = 0
    """Calls to be made: requests without a reply in the log, equal ones once."""
    kept: int = 0
    """Different requests whose reply is in the log."""
    sampled: int = 0
    """Replies that the guess is made from; with 0 it is a rule of thumb, and high."""
    tokens_in: float = 0.0
    tokens_out: float = 0.0
    cost: float | None = 0.0
    """None where the price is not known."""
    seconds: float | None = 0.0
    """From the first call to the last; None where no reply tells how long one takes."""

    def __add__(self, other: Estimate) -> Estimate:
        """Return the sum; what is not known of one is not known of both."""
        return Estimate(
            calls=self.calls + other.calls,
            kept=self.kept + other.kept,
            sampled=self.sampled + other.sampled,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            cost=_sum(self.cost, other.cost),
            seconds=_sum(self.seconds, other.seconds),
        )


def estimate(
    endpoint: Endpoint, requests: Sequence[Request], log: CallLog, prices: Prices, at_once: int
) -> Estimate:
    """Return the tokens, the cost and the time that the requests are likely to take.

    Tokens and latency are those of the replies in the log; `at_once` calls run in parallel.
    """
    by_key = {request.key(endpoint.identity): request for request in requests}
    known = log.replies(list(by_key))
    missing = [request for key, request in by_key.items() if key not in known]
    guess = TokenEstimator()
    for key, reply in known.items():
        guess.learn(len(by_key[key].rendered), reply)
    if not known:
        _learn_from_others(log, endpoint, guess)
    tokens_in, tokens_out = guess.tokens(
        reduce(PromptSize.plus, map(PromptSize.of, missing), PromptSize())
    )
    price = prices.find(endpoint)
    at_once = min(at_once, max(len(missing), 1))
    return Estimate(
        calls=len(missing),
        kept=len(known),
        sampled=guess.replies,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if price is None else price.of(tokens_in, tokens_out),
        seconds=guess.seconds / guess.replies * len(missing) / at_once if guess.replies else None,
    )


def _learn_from_others(log: CallLog, endpoint: Endpoint, guess: TokenEstimator) -> None:
    """Learn from what the same model was asked in other experiments."""
    for characters, reply in log.sample(endpoint.identity):
        guess.learn(characters, Reply("", "", *reply))


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
