"""Prices, budgets and estimates."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.components.generators.support import answers_of

from ragstone.calls.client import Calls
from ragstone.calls.estimates import Estimate
from ragstone.calls.log import CallLog
from ragstone.calls.prices import Budget, BudgetReached, Price, Prices
from ragstone.calls.types import Endpoint, Reply, Request, chat
from ragstone.components.generators.chat import Chat
from ragstone.errors import ConfigError
from ragstone.testing import FakeModelServer
from ragstone.types import Context, Query, Task

PRICES = Prices({"fake": Price(input=1000.0, output=10_000.0), "cheap-*": Price(1.0, 1.0)})


def questions(count: int) -> list[Request]:
    """Return requests of different lengths."""
    return [chat(f"question {n} " + "word " * (n % 7), max_tokens=50) for n in range(count)]


def wordy(messages: Sequence[Mapping[str, str]]) -> str:
    """Answer in three to seven words."""
    return "word " * (3 + zlib.crc32(messages[-1]["content"].encode()) % 5)


def table(path: Path, text: str) -> Path:
    """Write a price table."""
    path.write_text(text, encoding="utf-8")
    return path


def test_a_price_table_is_read_and_matched_by_name_then_pattern(tmp_path: Path) -> None:
    """An exact name precedes a pattern; a local model costs nothing."""
    text = "models:\n  a: {input: 1, output: 2}\n  'a*': {input: 3, output: 4}\ncurrency: EUR\n"
    prices = Prices.read(table(tmp_path / "prices.yaml", text))
    urls = ("http://localhost/v1",)
    assert prices.currency == "EUR"
    assert prices.find(Endpoint("a", urls)) == Price(1, 2)
    assert prices.find(Endpoint("ab", urls)) == Price(3, 4)
    assert prices.find(Endpoint("b", urls)) is None
    local = Endpoint("b", identity="gguf:1", serve=lambda: None)  # type: ignore[arg-type,return-value]
    assert prices.find(local) == Price(0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: [a]", "key 'models': input should be a valid dictionary"),
        ("[a]", "expected the keys"),
        ("models: {a: {input: 1, output: 1, cached: 1}}", "key 'models.a.cached': unexpected"),
        ("models: {a: {input: 1}}", "key 'models.a.output': field required"),
        (
            "models: {a: {input: 1, output: cheap}}",
            "key 'models.a.output': input should be a valid number, .*found 'cheap'",
        ),
        ("models: {a: {input: -1, output: 0}}", "0 or more, found .*-1"),
        ("modles: {}\nmodels: {}", "did you mean 'models'"),
        ("models: {a", "cannot read the price table"),
    ],
)
def test_a_wrong_price_table_is_a_config_error(tmp_path: Path, text: str, message: str) -> None:
    """The error names the file, the model and the value."""
    with pytest.raises(ConfigError, match=message):
        Prices.read(table(tmp_path / "prices.yaml", text))


def test_each_answer_has_its_cost(tmp_path: Path) -> None:
    """Tokens times price, with the sum in the usage; an unknown price gives no cost."""
    tasks = [Task(Query("q", "Who?"), Context("q", "none"))]
    with FakeModelServer() as server:
        with Calls.at(tmp_path / "log", prices=PRICES) as calls:
            (prediction,) = answers_of(Chat("fake", server.url), tasks, calls)
            assert prediction.tokens_in is not None
            assert prediction.tokens_out is not None
            cost = prediction.tokens_in * 0.001 + prediction.tokens_out * 0.01
            assert prediction.cost == pytest.approx(cost)
            assert calls.usage.cost == pytest.approx(cost)
        with Calls.at(tmp_path / "log") as calls:
            (prediction,) = answers_of(Chat("fake", server.url), tasks, calls)
            assert prediction.cost is None


def test_a_budget_stops_cleanly_at_its_amount(tmp_path: Path) -> None:
    """The cost ends within 5 % of the budget; a higher budget resumes with every reply kept."""
    requests = questions(400)
    with FakeModelServer(answer=wordy, delay=0.002) as server:
        endpoint = Endpoint("fake", (server.url,))
        budget = Budget(5.0, PRICES)
        with (
            Calls(CallLog(tmp_path / "log"), budget=budget) as calls,
            pytest.raises(BudgetReached, match=r"budget of 5\.00 USD is reached"),
        ):
            list(calls.ask(endpoint, requests))
        assert calls.usage.cost == pytest.approx(5.0, rel=0.05)
        assert budget.spent == pytest.approx(calls.usage.cost)
        asked = sum(server.asked.values())
        with Calls(CallLog(tmp_path / "log"), budget=Budget(1000.0, PRICES)) as calls:
            assert calls.estimate(endpoint, requests).kept == asked
            assert all(isinstance(o, Reply) for o in calls.ask(endpoint, requests))
        assert sum(server.asked.values()) == 400


def test_a_maximum_of_calls_needs_no_price(tmp_path: Path) -> None:
    """No call beyond the maximum is made; the same maximum resumes with every reply kept."""
    requests = questions(30)
    with FakeModelServer() as server:
        endpoint = Endpoint("fake", (server.url,))
        for made in (20, 30):
            budget = Budget(None, Prices(), max_calls=20)
            with Calls(CallLog(tmp_path / "log"), budget=budget) as calls:
                if made == 30:
                    assert len(list(calls.ask(endpoint, requests))) == 30
                else:
                    with pytest.raises(BudgetReached, match="maximum of 20 calls is reached"):
                        list(calls.ask(endpoint, requests))
            assert sum(server.asked.values()) == made


def test_a_budget_needs_the_price(tmp_path: Path) -> None:
    """An unknown price is an error before any call, with the line to add."""
    with (
        FakeModelServer() as server,
        Calls(CallLog(tmp_path / "log"), budget=Budget(1.0, Prices())) as calls,
    ):
        with pytest.raises(ConfigError, match="Add to the price table: fake"):
            list(calls.ask(Endpoint("fake", (server.url,)), questions(1)))
        assert not server.asked


@pytest.mark.parametrize("amount", [0.0, -1.0, float("nan")])
def test_a_budget_is_a_number_above_zero(amount: float) -> None:
    """Zero, negative amounts and NaN are errors."""
    with pytest.raises(ConfigError, match="budget"):
        Budget(amount, PRICES)


def test_an_estimate_from_a_sample_comes_within_a_tenth(tmp_path: Path) -> None:
    """Tokens and cost are within 10 % of the actual ones; the sample's calls are not repeated."""
    requests = questions(300)
    with (
        FakeModelServer(answer=wordy) as server,
        Calls.at(tmp_path / "log", prices=PRICES) as calls,
    ):
        endpoint = Endpoint("fake", (server.url,))
        estimate = calls.estimate(endpoint, requests, sample=30)
        assert (estimate.calls, estimate.kept, estimate.sampled) == (270, 30, 30)
        before = calls.usage
        list(calls.ask(endpoint, requests))
        spent = calls.usage - before
        assert spent.asked == 270
        assert estimate.tokens_in == pytest.approx(spent.tokens_in, rel=0.1)
        assert estimate.tokens_out == pytest.approx(spent.tokens_out, rel=0.1)
        assert estimate.cost == pytest.approx(spent.cost, rel=0.1)
        assert calls.estimate(endpoint, requests).calls == 0


def test_an_estimate_without_any_reply_is_an_upper_bound(tmp_path: Path) -> None:
    """Without calls, tokens out are the maximum and the time is unknown."""
    with FakeModelServer() as server, Calls.at(tmp_path / "log", prices=PRICES) as calls:
        estimate = calls.estimate(Endpoint("fake", (server.url,)), questions(10) * 2)
        assert not server.asked
    assert (estimate.calls, estimate.sampled, estimate.tokens_out) == (10, 0, 500.0)
    assert estimate.seconds is None
    assert (estimate + Estimate(calls=1, seconds=2.0)).seconds is None


def test_an_estimate_uses_replies_of_other_experiments(tmp_path: Path) -> None:
    """Replies of other experiments determine tokens and latency."""
    with (
        FakeModelServer(answer=wordy) as server,
        Calls.at(tmp_path / "log", prices=PRICES) as calls,
    ):
        endpoint = Endpoint("fake", (server.url,))
        list(calls.ask(endpoint, questions(40)))
        estimate = calls.estimate(endpoint, [chat(f"another question {n}") for n in range(10)])
    assert (estimate.calls, estimate.sampled) == (10, 40)
    assert 30 < estimate.tokens_out < 70
    assert estimate.seconds is not None
