"""The cost of calls: a price table written by the user, and a budget that limits new calls.

    currency: USD
    models:                       # per million tokens
      small-model: {input: 0.15, output: 0.60, batch: 0.5}
      "big-*": {input: 2.50, output: 10.00, reasoning: 12.00}

Tokens of reasoning cost as much as other output unless `reasoning` is given. A call through a batch
endpoint costs the share `batch` of the price; without it, the full price counts.

No prices are built in: they change, and a wrong price is worse than none. A local model costs
nothing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar, Final

from ragstone.calls.types import Endpoint, Outcome, Reply, Request, Totals
from ragstone.core.parsing import read_yaml
from ragstone.core.registry import build
from ragstone.errors import ConfigError, LimitReached

_MILLION: Final = 1_000_000
_DEFAULT_BYTES_PER_TOKEN: Final = 4.0
"""A rule of thumb for English, until the log contains replies."""
_DEFAULT_TOKENS_OUT: Final = 512
"""Tokens per reply if the request sets no maximum."""
_ENOUGH_REPLIES: Final = 20
"""With fewer replies their mean is a worse estimate than `max_tokens`."""


class BudgetReached(LimitReached):
    """The next call could exceed the budget; all earlier replies are kept."""


@dataclass(frozen=True, slots=True)
class Price:
    """Price of one model, per million tokens."""

    input: float
    output: float
    reasoning: float | None = None
    """Price of output tokens that are reasoning; None if they cost as much as the others."""
    batch: float | None = None
    """Share of the price that a call through a batch endpoint costs; None counts the full price."""
    __pydantic_config__: ClassVar = {"extra": "forbid"}

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a negative price."""
        given = [self.input, self.output, *filter(None, [self.reasoning, self.batch])]
        if not all(value >= 0 for value in given):
            raise ConfigError(f"a price must be a number of 0 or more, found {self}")

    def cost(
        self,
        tokens_in: float,
        tokens_out: float,
        tokens_reasoning: float = 0.0,
        *,
        batched: bool = False,
    ) -> float:
        """Return the cost of tokens read and written; those of reasoning are among the latter.

        >>> Price(input=0.5, output=2.0, reasoning=3.0).cost(1_000_000, 500_000, 100_000)
        1.6
        """
        reasoning = self.output if self.reasoning is None else self.reasoning
        spoken = max(tokens_out - tokens_reasoning, 0.0)
        full = tokens_in * self.input + spoken * self.output + tokens_reasoning * reasoning
        return full * self.share(batched=batched) / _MILLION

    def share(self, *, batched: bool) -> float:
        """Return the share of the full price that a call costs."""
        return self.batch if batched and self.batch is not None else 1.0

    def bound(self, tokens_in: float, tokens_out: float, *, batched: bool = False) -> float:
        """Return the cost if any of the tokens written could be reasoning."""
        highest = max(self.output, self.reasoning or 0.0)
        full = tokens_in * self.input + tokens_out * highest
        return full * self.share(batched=batched) / _MILLION


@dataclass(frozen=True)
class Prices:
    """A price table: prices by model name or by a pattern with `*`."""

    models: Mapping[str, Price] = field(default_factory=dict)
    currency: str = "USD"

    @classmethod
    def read(cls, path: Path) -> Prices:
        """Read a table from a YAML file; raise `ConfigError` if it is malformed."""
        document = read_yaml(path, "price table")
        if not isinstance(document, dict) or "models" not in document:
            raise ConfigError(f"{path}: expected the keys 'models' and, if not USD, 'currency'")
        table: Prices = build(cls, document, where=str(path))
        return table

    def find(self, endpoint: Endpoint) -> Price | None:
        """Return an endpoint's price by name, identity or the first matching pattern, or None."""
        for name in (endpoint.model, endpoint.identity):
            if name in self.models:
                return self.models[name]
        if endpoint.serve is not None or endpoint.is_free:
            return Price(0.0, 0.0)
        matches = (p for pattern, p in self.models.items() if fnmatchcase(endpoint.model, pattern))
        return next(matches, None)

    def require(self, endpoint: Endpoint) -> Price:
        """Return an endpoint's price; raise `ConfigError` if it is unknown."""
        price = self.find(endpoint)
        if price is None:
            known = ", ".join(self.models) or "none"
            raise ConfigError(
                f"the price of {endpoint.model!r} is unknown (known: {known}); a budget "
                f"needs it. Add to the price table: {endpoint.model}: {{input: ..., output: ...}}"
            )
        return price

    def cost(self, endpoint: Endpoint, reply: Reply) -> float | None:
        """Return the cost of a reply; None if its price or its tokens are unknown."""
        price = self.find(endpoint)
        if price is None or reply.tokens_in is None or reply.tokens_out is None:
            return None
        reasoning = reply.tokens_reasoning or 0
        return price.cost(reply.tokens_in, reply.tokens_out, reasoning, batched=bool(reply.batch))


@dataclass(frozen=True, slots=True)
class PromptSize(Totals):
    """The size of some calls before their replies are known."""

    calls: int = 0
    prompt_bytes: int = 0
    max_tokens_out: int = 0

    @classmethod
    def of(cls, request: Request) -> PromptSize:
        """Return the size of one request."""
        maximum = request.sampling.max_tokens
        tokens = _DEFAULT_TOKENS_OUT if maximum is None else maximum
        tokens += request.sampling.thinking_budget or 0
        return cls(1, len(request.rendered), tokens)


@dataclass
class TokenEstimator:
    """Estimates the tokens of calls to one endpoint from the replies so far."""

    prompt_bytes: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_reasoning: int = 0
    replies: int = 0
    timed: int = 0
    """Replies with a latency; those from a batch have none."""
    seconds: float = 0.0
    squared_tokens_out: int = 0
    """Sum of squares, for the variance of the tokens per reply."""

    def learn(self, prompt_bytes: int, reply: Reply) -> None:
        """Add a reply to a prompt of `prompt_bytes`."""
        if reply.tokens_in is not None and reply.tokens_out is not None:
            self.prompt_bytes += prompt_bytes
            self.tokens_in += reply.tokens_in
            self.tokens_out += reply.tokens_out
            self.tokens_reasoning += reply.tokens_reasoning or 0
            self.timed += reply.seconds is not None
            self.seconds += reply.seconds or 0.0
            self.replies += 1
            self.squared_tokens_out += reply.tokens_out**2

    def tokens(self, size: PromptSize) -> tuple[float, float]:
        """Return expected tokens in and out; the latter is the maximum until enough replies."""
        known = self.tokens_in > 0
        per_token = self.prompt_bytes / self.tokens_in if known else _DEFAULT_BYTES_PER_TOKEN
        if self.replies < _ENOUGH_REPLIES:
            return size.prompt_bytes / per_token, float(size.max_tokens_out)
        return size.prompt_bytes / per_token, size.calls * self.tokens_out / self.replies

    def reasoning(self, tokens_out: float) -> float:
        """Return how many of some tokens written are likely to be reasoning."""
        return tokens_out * self.tokens_reasoning / self.tokens_out if self.tokens_out else 0.0

    def upper_bound(self, size: PromptSize) -> tuple[float, float]:
        """Return tokens in and out that are exceeded about once in forty times.

        The bound is two standard deviations above the estimate. The variance is the sum of the
        variance of the calls' lengths and that of the mean.
        """
        tokens_in, tokens_out = self.tokens(size)
        if self.replies < _ENOUGH_REPLIES:
            return tokens_in, tokens_out
        mean = self.tokens_out / self.replies
        variance = max(0.0, self.squared_tokens_out / self.replies - mean**2)
        spread = math.sqrt(variance * (size.calls + size.calls**2 / self.replies))
        return tokens_in, min(tokens_out + 2 * spread, float(size.max_tokens_out))


@dataclass
class _Account:
    """One endpoint's share of a budget."""

    price: Price
    batched: bool = False
    estimator: TokenEstimator = field(default_factory=TokenEstimator)
    in_flight: PromptSize = field(default_factory=PromptSize)
    reserved: dict[str, PromptSize] = field(default_factory=dict)
    spent: float = 0.0

    def cost_with(self, size: PromptSize) -> float:
        """Return the cost so far plus the upper bound for the calls in flight and `size`."""
        bound = self.estimator.upper_bound(self.in_flight + size)
        return self.spent + self.price.bound(*bound, batched=self.batched)


class Budget:
    """A maximum cost, in the currency of the price table, and number of the calls made from now on.

    A call is refused if the cost so far plus the upper bound for that call and those in flight
    exceeds the amount, or if it is one too many.
    """

    def __init__(
        self, amount: float | None, prices: Prices, *, max_calls: int | None = None
    ) -> None:
        if amount is not None and not amount > 0:
            raise ConfigError(f"the budget must be a number above 0, found {amount!r}")
        self.amount, self.prices, self.max_calls = amount, prices, max_calls
        self._begun = 0
        self._accounts: dict[tuple[str, bool], _Account] = {}
        self._lock = threading.Lock()

    def check(self, endpoint: Endpoint) -> None:
        """Raise `ConfigError` if the cost is limited and the price of an endpoint is unknown."""
        if self.amount is not None:
            self.prices.require(endpoint)

    @property
    def spent(self) -> float:
        """The cost of the calls so far."""
        with self._lock:
            return sum(account.spent for account in self._accounts.values())

    def _account(self, endpoint: Endpoint) -> _Account:
        name = endpoint.identity, endpoint.batch
        if name not in self._accounts:
            self._accounts[name] = _Account(self.prices.require(endpoint), endpoint.batch)
        return self._accounts[name]

    def reserve(self, endpoint: Endpoint, key: str, request: Request) -> BudgetReached | None:
        """Reserve the cost of a call, or return the reason for refusing it."""
        size = PromptSize.of(request)
        with self._lock:
            if self.max_calls is not None and self._begun >= self.max_calls:
                return BudgetReached(
                    f"the maximum of {self.max_calls:,} calls is reached. Every reply is kept: run "
                    "the same command again to resume with as many calls"
                )
            self._begun += 1
            if self.amount is None:
                return None
            account = self._account(endpoint)
            accounts = self._accounts.values()
            others = sum(a.cost_with(PromptSize()) for a in accounts if a is not account)
            if others + account.cost_with(size) > self.amount:
                spent = sum(account.spent for account in accounts)
                return BudgetReached(
                    f"the budget of {self.amount:.2f} {self.prices.currency} is reached: "
                    f"{spent:.4f} spent. Every reply is kept: run the same command again to resume "
                    "with the same amount"
                )
            account.reserved[key] = size
            account.in_flight += size
        return None

    def settle(self, endpoint: Endpoint, outcome: Outcome) -> None:
        """Replace the reserved cost of a call by its actual cost."""
        if self.amount is None:
            return
        with self._lock:
            account = self._account(endpoint)
            size = account.reserved.pop(outcome.key, PromptSize())
            account.in_flight -= size
            if not isinstance(outcome, Reply):
                return
            account.estimator.learn(size.prompt_bytes, outcome)
            cost = self.prices.cost(endpoint, outcome)
            expected = account.estimator.tokens(size)
            estimated = account.price.cost(*expected, batched=account.batched)
            account.spent += estimated if cost is None else cost
