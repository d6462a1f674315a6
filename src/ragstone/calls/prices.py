"""What calls cost: a price table that the user writes, and a budget that is not overrun.

    currency: USD
    models:                       # per million tokens
      small-model: {input: 0.15, output: 0.60}
      "big-*": {input: 2.50, output: 10.00}

No prices are built in: they change, and a wrong price is worse than none. A model served on this
machine costs nothing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from ragstone.calls.types import Endpoint, Outcome, Reply, Request
from ragstone.errors import CallError, ConfigError, did_you_mean

_MILLION: Final = 1_000_000
_USUAL_CHARACTERS_PER_TOKEN: Final = 4.0
_USUAL_TOKENS_OUT: Final = 512
_ENOUGH: Final = 20
"""Replies from which their mean is a better guess than the bound."""


class BudgetReached(CallError):
    """The next call could cost more than is left; everything answered before is kept."""


@dataclass(frozen=True, slots=True)
class Price:
    """Of one model, per million tokens."""

    input: float
    output: float

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """Return the cost of so many tokens.

        >>> Price(input=0.5, output=2.0).of(1_000_000, 500_000)
        1.5
        """
        return (tokens_in * self.input + tokens_out * self.output) / _MILLION


@dataclass(frozen=True)
class Prices:
    """A price table: model name, or a pattern with `*`, to price."""

    models: Mapping[str, Price] = field(default_factory=dict)
    currency: str = "USD"

    @classmethod
    def read(cls, path: Path) -> Prices:
        """Read a table from a YAML file; anything unexpected in it is a `ConfigError`."""
        import yaml

        try:
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigError(f"cannot read the price table {path}: {error}") from error
        if not isinstance(document, dict) or not isinstance(document.get("models"), dict):
            raise ConfigError(f"{path}: expected the keys 'models' and, if not USD, 'currency'")
        for key in document.keys() - {"models", "currency"}:
            raise ConfigError(
                f"{path}: unknown key {key!r}{did_you_mean(str(key), ('models', 'currency'))}"
            )
        models = {str(m): _price(p, f"{path}, {m}") for m, p in document["models"].items()}
        return cls(models, str(document.get("currency", "USD")))

    def find(self, endpoint: Endpoint) -> Price | None:
        """Return an endpoint's price: by name, by identity, by the first pattern; or None."""
        for name in (endpoint.model, endpoint.identity):
            if name in self.models:
                return self.models[name]
        if endpoint.serve is not None:
            return Price(0.0, 0.0)
        matching = (p for pattern, p in self.models.items() if fnmatchcase(endpoint.model, pattern))
        return next(matching, None)

    def need(self, endpoint: Endpoint) -> Price:
        """Return an endpoint's price; an unknown one is a `ConfigError` with the way out."""
        price = self.find(endpoint)
        if price is None:
            known = ", ".join(self.models) or "none"
            raise ConfigError(
                f"the price of {endpoint.model!r} is not known (known: {known}), so no budget can "
                f"be held; add to the price table: {endpoint.model}: {{input: ..., output: ...}}"
            )
        return price

    def cost(self, endpoint: Endpoint, reply: Reply) -> float | None:
        """Return what a reply cost; None where its price or its tokens are not known."""
        price = self.find(endpoint)
        if price is None or reply.tokens_in is None or reply.tokens_out is None:
            return None
        return price.of(reply.tokens_in, reply.tokens_out)


def _price(written: Any, where: str) -> Price:
    if not isinstance(written, dict) or set(written) != {"input", "output"}:
        raise ConfigError(
            f"{where}: expected {{input: ..., output: ...}} per million tokens, found {written!r}"
        )
    for name, value in written.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise ConfigError(f"{where}: {name!r} must be a number from 0 on, found {value!r}")
    return Price(float(written["input"]), float(written["output"]))


@dataclass(frozen=True, slots=True)
class PromptSize:
    """Some calls that are not answered yet."""

    calls: int = 0
    characters: int = 0
    most_out: int = 0
    """Tokens that may come out at most."""

    @classmethod
    def of(cls, request: Request) -> PromptSize:
        """Return one request's load."""
        most = request.sampling.max_tokens
        return cls(1, len(request.rendered), _USUAL_TOKENS_OUT if most is None else most)

    def plus(self, other: PromptSize, sign: int = 1) -> PromptSize:
        """Return both together, or with sign -1 what is left without the other."""
        return PromptSize(
            self.calls + sign * other.calls,
            self.characters + sign * other.characters,
            self.most_out + sign * other.most_out,
        )


@dataclass
class TokenEstimator:
    """What calls to one endpoint are likely to use, learned from the replies so far."""

    characters: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    replies: int = 0
    seconds: float = 0.0
    squares: int = 0
    """Of the tokens out of each reply, added up."""

    def learn(self, characters: int, reply: Reply) -> None:
        """Take a reply to a prompt of so many characters into account."""
        if reply.tokens_in is not None and reply.tokens_out is not None:
            self.characters += characters
            self.tokens_in += reply.tokens_in
            self.tokens_out += reply.tokens_out
            self.seconds += reply.seconds or 0.0
            self.replies += 1
            self.squares += reply.tokens_out**2

    def tokens(self, load: PromptSize) -> tuple[float, float]:
        """Return tokens in and out; until enough is known, out is the most that may come."""
        known = self.tokens_in > 0
        per_token = self.characters / self.tokens_in if known else _USUAL_CHARACTERS_PER_TOKEN
        if self.replies < _ENOUGH:
            return load.characters / per_token, float(load.most_out)
        return load.characters / per_token, load.calls * self.tokens_out / self.replies

    def tokens_at_most(self, load: PromptSize) -> tuple[float, float]:
        """Return tokens in and out that are exceeded about once in forty times.

        Two standard deviations above the guess: those of the calls' own lengths and of the mean.
        """
        tokens_in, tokens_out = self.tokens(load)
        if self.replies < _ENOUGH:
            return tokens_in, tokens_out
        variance = max(0.0, self.squares / self.replies - (self.tokens_out / self.replies) ** 2)
        spread = math.sqrt(variance * (load.calls + load.calls**2 / self.replies))
        return tokens_in, min(tokens_out + 2 * spread, float(load.most_out))


@dataclass
class _Account:
    """One endpoint's share of a budget."""

    price: Price
    guess: TokenEstimator = field(default_factory=TokenEstimator)
    in_flight: PromptSize = field(default_factory=PromptSize)
    loads: dict[str, PromptSize] = field(default_factory=dict)
    spent: float = 0.0

    def with_one_more(self, load: PromptSize) -> float:
        """Return what was spent, and will have been when all in flight and one more are done."""
        return self.spent + self.price.of(*self.guess.tokens_at_most(self.in_flight.plus(load)))


class Budget:
    """An amount of money for the calls that are made from now on, in the price table's currency.

    A call is not made if what was spent and what that call and those in flight may well cost come
    to more than the amount.
    """

    def __init__(self, amount: float, prices: Prices) -> None:
        if not amount > 0:
            raise ConfigError(f"the budget must be a number above 0, found {amount!r}")
        self.amount, self.prices = amount, prices
        self._accounts: dict[str, _Account] = {}
        self._lock = threading.Lock()

    @property
    def spent(self) -> float:
        """What the calls made so far have cost."""
        with self._lock:
            return sum(account.spent for account in self._accounts.values())

    def set_aside(self, endpoint: Endpoint, key: str, request: Request) -> BudgetReached | None:
        """Set a call's likely cost aside, or return why it cannot be made."""
        load = PromptSize.of(request)
        with self._lock:
            account = self._accounts.get(endpoint.identity)
            if account is None:
                account = self._accounts[endpoint.identity] = _Account(self.prices.need(endpoint))
            others = sum(
                a.with_one_more(PromptSize()) for a in self._accounts.values() if a is not account
            )
            if others + account.with_one_more(load) > self.amount:
                return self._reached()
            account.loads[key] = load
            account.in_flight = account.in_flight.plus(load)
        return None

    def settle(self, endpoint: Endpoint, outcome: Outcome) -> None:
        """Count what a call cost in place of what was set aside for it."""
        with self._lock:
            account = self._accounts[endpoint.identity]
            load = account.loads.pop(outcome.key, PromptSize())
            account.in_flight = account.in_flight.plus(load, -1)
            if not isinstance(outcome, Reply):
                return
            account.guess.learn(load.characters, outcome)
            cost = self.prices.cost(endpoint, outcome)
            likely = account.price.of(*account.guess.tokens(load))
            account.spent += likely if cost is None else cost

    def _reached(self) -> BudgetReached:
        spent = sum(account.spent for account in self._accounts.values())
        return BudgetReached(
            f"the budget of {self.amount:.2f} {self.prices.currency} is reached: {spent:.4f} spent."
            " Every reply is kept: the same command with a higher budget goes on"
        )
