"""Models of this process: batches of what waits, time-outs, faults, one model in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ragstone.calls.client import Calls
from ragstone.calls.scheduler import RetryPolicy
from ragstone.calls.types import AttemptError, Endpoint, Failure, Outcome, Reply, Request, chat
from ragstone.errors import CallError, ConfigError, MissingDependency
from ragstone.models.in_process import Answer, draw_seed, in_process, load_once, unload


@dataclass
class Echo:
    """Answers with the last message in capitals, after a while."""

    seconds: float = 0.0
    batches: list[int] = field(default_factory=list)
    closed: bool = False

    def answer(self, requests: Sequence[Request], go_on: Callable[[], bool]) -> list[Answer]:
        """Return one answer per request; note how many there were."""
        self.batches.append(len(requests))
        time.sleep(self.seconds)
        texts = [request.messages[-1][1] for request in requests]
        if "break" in texts:
            raise RuntimeError("CUDA out of memory")
        if "misuse" in texts:
            raise ConfigError("takes no grammar")
        return [
            AttemptError("too long")
            if text == "long"
            else Reply(text.upper(), rendered=f"<{text}>")
            for text in texts
        ]

    def close(self) -> None:
        """Note it."""
        self.closed = True


def ask(
    model: Echo, texts: Sequence[str], tmp_path: Path, batch_size: int, policy: RetryPolicy | None
) -> list[Outcome]:
    """Return the outcomes of one question per text."""
    endpoint = Endpoint(
        "echo",
        identity="echo",
        client=lambda endpoint, pace: in_process(endpoint, pace, lambda: model, batch_size),
        concurrency=2 * batch_size,
    )
    with Calls.at(tmp_path / "calls.sqlite", retry_policy=policy) as calls:
        return list(calls.ask(endpoint, [chat(text) for text in texts]))


@pytest.fixture(autouse=True)
def nothing_in_memory() -> Iterator[None]:
    """Leave no model in memory."""
    yield
    unload()


def test_calls_that_wait_are_answered_together_and_in_order(tmp_path: Path) -> None:
    """Eight calls go through a model of batches of four in far fewer steps than eight."""
    model = Echo()

    outcomes = ask(model, list("abcdefgh"), tmp_path, 4, None)

    assert [o.text for o in outcomes if isinstance(o, Reply)] == list("ABCDEFGH")
    assert sum(model.batches) == 8
    assert max(model.batches) == 4


def test_alone_means_alone(tmp_path: Path) -> None:
    """With a batch size of 1 no two prompts share a batch, however many wait."""
    model = Echo()

    ask(model, list("abcde"), tmp_path, 1, None)

    assert model.batches == [1] * 5


def test_the_rendered_prompt_is_kept_with_its_hash(tmp_path: Path) -> None:
    """A reply read from the log contains the prompt that the model received."""
    ask(Echo(), ["a"], tmp_path, 1, None)

    [kept] = ask(Echo(), ["a"], tmp_path, 1, None)

    assert isinstance(kept, Reply)
    assert kept.rendered == "<a>"
    assert kept.rendered_hash == Reply("", rendered="<a>").rendered_hash != ""


def test_an_answer_that_outlasts_a_time_out_is_not_computed_twice(tmp_path: Path) -> None:
    """The next attempt finds the answer that the one before was waiting for."""
    model = Echo(seconds=0.5)

    [outcome] = ask(model, ["slow"], tmp_path, 1, RetryPolicy(timeout=0.2, first_wait=0.05))

    assert isinstance(outcome, Reply)
    assert outcome.attempts > 1
    assert model.batches == [1]


def test_a_long_queue_does_not_run_out_of_time(tmp_path: Path) -> None:
    """Twenty calls to a slow model of batches of two: none waits for longer than a batch."""
    model = Echo(seconds=0.1)
    endpoint = Endpoint(
        "echo",
        identity="echo",
        client=lambda endpoint, pace: in_process(endpoint, pace, lambda: model, 2),
    )
    policy = RetryPolicy(timeout=1.0, deadline=60.0, attempts=1)
    with Calls.at(tmp_path / "calls.sqlite", retry_policy=policy) as calls:
        outcomes = list(calls.ask(endpoint, [chat(f"text {n}") for n in range(20)]))

    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    assert sum(model.batches) == 20


def test_a_fault_of_one_prompt_leaves_its_neighbours_alone(tmp_path: Path) -> None:
    """In a batch only the prompt that is too long fails."""
    outcomes = ask(Echo(), ["a", "long", "b"], tmp_path, 3, None)

    assert [isinstance(outcome, Failure) for outcome in outcomes] == [False, True, False]


def test_a_model_that_breaks_gives_failures_with_the_way_out(tmp_path: Path) -> None:
    """Full memory is a failure that names the batch size; the next batch is answered."""
    broken, whole = ask(Echo(), ["break", "a"], tmp_path, 1, None)

    assert isinstance(broken, Failure)
    assert "out of memory; set a smaller batch_size" in broken.reason
    assert isinstance(whole, Reply)


def test_an_unsupported_parameter_ends_the_run(tmp_path: Path) -> None:
    """An error of the configuration is raised, not kept as a failure of each call."""
    with pytest.raises(ConfigError, match="takes no grammar"):
        ask(Echo(), ["misuse"], tmp_path, 1, None)


def test_a_model_that_cannot_be_loaded_is_an_error_at_once(tmp_path: Path) -> None:
    """What loading raises reaches whoever asks, before any call is made."""

    def load() -> Echo:
        raise MissingDependency("this", "torch", "hf")

    endpoint = Endpoint("x", client=lambda e, pace: in_process(e, pace, load, 1))
    with (
        Calls.at(tmp_path / "calls.sqlite") as calls,
        pytest.raises(MissingDependency, match="hf"),
    ):
        list(calls.ask(endpoint, [chat("a")]))


def test_replay_loads_no_model(tmp_path: Path) -> None:
    """Without leave to make calls nothing is loaded."""
    endpoint = Endpoint("x", client=lambda *_: pytest.fail("loaded"))
    with (
        Calls.at(tmp_path / "calls.sqlite", replay_only=True) as calls,
        pytest.raises(CallError, match="replay"),
    ):
        list(calls.ask(endpoint, [chat("a")]))


def test_one_model_is_in_memory_at_a_time() -> None:
    """Loading another model unloads the first; loading the same one does nothing."""
    first, second = Echo(), Echo()

    assert load_once("first", lambda: first) is first
    assert load_once("first", lambda: second) is first
    assert load_once("second", lambda: second) is second
    assert first.closed
    assert not second.closed


def test_closing_ends_the_models_thread(tmp_path: Path) -> None:
    """No thread of a model outlives its calls."""
    ask(Echo(), ["a"], tmp_path, 2, None)

    assert not [t for t in threading.enumerate() if t.name == "ragstone-model"]


def test_draws_differ_by_seed_sample_and_prompt() -> None:
    """Each of the three changes the random numbers of a request; nothing else is needed."""
    plain = chat("Hi", seed=1)
    others = [chat("Hi", seed=2), chat("Ho", seed=1), Request(plain.messages, plain.sampling, 1)]

    assert draw_seed(plain) == draw_seed(chat("Hi", seed=1))
    assert len({draw_seed(request) for request in [plain, *others]}) == 4
