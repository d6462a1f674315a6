"""A real model run by transformers: the bundled GGUF file through torch, in float32."""

from __future__ import annotations

import http.client
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.components.generators.support import answers_of

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Failure, Outcome, Reply, Request, Sampling, chat
from ragstone.components.generators.transformers import Hf
from ragstone.errors import ConfigError, MissingDependency
from ragstone.models.bundled import MODELS
from ragstone.models.in_process import unload
from ragstone.protocols import Services
from ragstone.types import Context, ContextPassage, Query, Task

MODEL = "smollm2-135m-instruct"
needs_torch = pytest.mark.needs("torch", "transformers", "gguf", "accelerate", model=MODEL)
# torch and transformers warn of what they themselves are about to change.
pytestmark = pytest.mark.filterwarnings("default")
BRIDGE = (
    "[1] The bridge of Orle was built in 1911 by Tam Fenn.\n\n[2] Its 3 arches span 145.5 m.\n\n"
)
ASKED = [
    chat(BRIDGE + "When was the bridge of Orle built?", system="Answer briefly.", max_tokens=16),
    chat(BRIDGE + "Who built it?", max_tokens=16),
    chat("Name one colour.", max_tokens=16),
    chat(BRIDGE + "How long is the bridge of Orle, and how many arches has it?", max_tokens=16),
]


@pytest.fixture(scope="module", autouse=True)
def nothing_in_memory() -> Iterator[None]:
    """Remove the model from memory after the last test."""
    yield
    unload()


def ask(model: Hf, requests: list[Request], log: Path) -> list[Outcome]:
    """Return how the requests ended."""
    with Calls.at(log) as calls:
        return list(calls.ask(model.endpoint, requests))


def replies(model: Hf, requests: list[Request], log: Path) -> list[Reply]:
    """Return the replies; none may have failed."""
    outcomes = ask(model, requests, log)
    assert not [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    return [outcome for outcome in outcomes if isinstance(outcome, Reply)]


def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the reply of a llama.cpp server with the same file."""
    from ragstone.models.llama_server import local_servers

    pool = local_servers(MODEL, workers=1)
    connection = http.client.HTTPConnection(urlsplit(pool.urls[0]).netloc, timeout=120)
    headers = {"Authorization": f"Bearer {pool.api_key}", "Content-Type": "application/json"}
    try:
        connection.request("POST", path, json.dumps(body), headers)
        said: dict[str, Any] = json.loads(connection.getresponse().read())
        return said
    finally:
        connection.close()


def spoken(request: Request) -> list[dict[str, str]]:
    """Return a request's messages as a server takes them."""
    return [{"role": role, "content": text} for role, text in request.messages]


@needs_torch
def test_the_two_back_ends_receive_the_same_text(tmp_path: Path) -> None:
    """The stored prompt is, character by character, that of llama.cpp's template."""
    pytest.importorskip("xllamacpp", reason="NOT RUN: needs pip install 'ragstone[local]'")
    turns = (("user", "Hi"), ("assistant", "Hello!"), ("user", "Who are you?"))
    asked = [*ASKED[:3], Request(turns, Sampling(max_tokens=2))]

    made = replies(Hf(), asked, tmp_path / "calls.sqlite")

    served = [post("/apply-template", {"messages": spoken(r)})["prompt"] for r in asked]
    assert [reply.rendered for reply in made] == served
    assert made[0].rendered_hash == Reply("", rendered=served[0]).rendered_hash


@needs_torch
def test_greedy_answers_repeat_and_the_log_probabilities_are_near_llama_cpps(
    tmp_path: Path,
) -> None:
    """Answers repeat without the log; the first token's probability is near llama.cpp's.

    Near, not the same: llama.cpp rounds activations to 8 bit where torch computes in float32.
    """
    pytest.importorskip("xllamacpp", reason="NOT RUN: needs pip install 'ragstone[local]'")
    request = Request(ASKED[0].messages, Sampling(max_tokens=8, logprobs=2))

    [first] = replies(Hf(), [request], tmp_path / "a.sqlite")
    [again] = replies(Hf(), [request], tmp_path / "b.sqlite")
    body = {"messages": spoken(request), "temperature": 0, "max_tokens": 8, "logprobs": True}
    served = post("/v1/chat/completions", body)["choices"][0]["logprobs"]["content"]

    assert (first.text, first.logprobs) == (again.text, again.logprobs)
    assert all(len(token.top) == 2 for token in first.logprobs)
    assert first.logprobs[0].logprob == first.logprobs[0].top[0][1]
    assert served[0]["token"] == first.logprobs[0].token
    assert served[0]["logprob"] == pytest.approx(first.logprobs[0].logprob, abs=0.2)


@needs_torch
def test_a_batch_padded_on_the_left_gives_the_answers_of_each_alone(tmp_path: Path) -> None:
    """Prompts of unlike lengths answered together: the same texts, chances to 0.0001.

    Not bit by bit: larger matrices are summed in another order.
    """
    asked = [Request(r.messages, Sampling(max_tokens=12, logprobs=0)) for r in ASKED]

    alone = replies(Hf(), asked, tmp_path / "calls.sqlite")
    batched = replies(Hf(batch_size=4), asked, tmp_path / "calls.sqlite")

    assert len({reply.tokens_in for reply in alone}) == 4
    assert [r.text for r in alone] == [r.text for r in batched]
    for one, other in zip(alone, batched, strict=True):
        near = pytest.approx([token.logprob for token in one.logprobs], abs=1e-4)
        assert [token.logprob for token in other.logprobs] == near


@needs_torch
def test_drawn_answers_repeat_by_seed_also_in_a_batch(tmp_path: Path) -> None:
    """Random numbers depend on the prompt and the sample, and not on the batch."""
    hot = Sampling(temperature=1.5, max_tokens=8, seed=7, top_p=0.95)
    asked = [Request(ASKED[2].messages, hot, sample) for sample in range(3)]

    alone = replies(Hf(), asked, tmp_path / "calls.sqlite")
    batched = replies(Hf(batch_size=3), asked, tmp_path / "calls.sqlite")

    assert [r.text for r in alone] == [r.text for r in batched]
    assert len({r.text for r in alone}) > 1


@needs_torch
def test_answers_end_at_stop_strings_and_at_their_length(tmp_path: Path) -> None:
    """A stop string is not part of the answer; the finish reason of a cut answer is "length"."""
    log = tmp_path / "calls.sqlite"
    [whole] = replies(Hf(), [ASKED[3]], log)
    stop = whole.text.split()[2]
    sampling = Sampling(max_tokens=16, stop=("never there", stop))

    [stopped, cut] = replies(
        Hf(),
        [Request(ASKED[3].messages, sampling), Request(ASKED[3].messages, Sampling(max_tokens=2))],
        log,
    )

    assert stopped.text == whole.text[: whole.text.find(stop)]
    assert stopped.finish_reason == "stop"
    assert (cut.finish_reason, cut.tokens_out) == ("length", 2)


@needs_torch
def test_the_models_own_generation_config_has_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A penalty, a minimum length and a top-k recommended by the model change nothing."""
    from transformers import AutoModelForCausalLM

    [plain] = replies(Hf(), [ASKED[0]], tmp_path / "a.sqlite")
    load = AutoModelForCausalLM.from_pretrained

    def with_recommendations(*arguments: Any, **given: Any) -> Any:
        model = load(*arguments, **given)
        recommended = {"repetition_penalty": 5.0, "min_new_tokens": 16, "top_k": 3}
        model.generation_config.update(**recommended)
        return model

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", with_recommendations)
    unload()
    [other] = replies(Hf(), [ASKED[0]], tmp_path / "b.sqlite")
    unload()

    assert (other.text, other.tokens_out) == (plain.text, plain.tokens_out)


@needs_torch
def test_a_prompt_that_is_too_long_is_a_failure(tmp_path: Path) -> None:
    """The failure has the length of the prompt; nothing is dropped."""
    [outcome] = ask(Hf(), [chat("bridge " * 9000)], tmp_path / "calls.sqlite")

    assert isinstance(outcome, Failure)
    assert "longer than the context" in outcome.reason


@needs_torch
def test_a_constraint_that_cannot_be_enforced_is_refused(tmp_path: Path) -> None:
    """A grammar that would be ignored is an error."""
    with pytest.raises(ConfigError, match="supports no grammar"):
        ask(Hf(), [chat("Hi", grammar='root ::= "a"')], tmp_path / "calls.sqlite")


@needs_torch
def test_it_answers_tasks_as_every_generator_does(tmp_path: Path) -> None:
    """One prediction per task, in order, with its tokens and the key of its call."""
    passages = (ContextPassage("p1", "The bridge of Orle was built in 1911.", "gold"),)
    task = Task(Query("q1", "When was the bridge built?"), Context("q1", "gold", passages))

    with Calls.at(tmp_path / "calls.sqlite") as calls:
        Hf(max_tokens=20).check(Services(calls=calls))
        [prediction] = answers_of(Hf(max_tokens=20), [task], calls)

    assert "1911" in (prediction.answer or "")
    assert prediction.tokens_in
    assert prediction.call_key


def test_the_identity_contains_everything_that_changes_answers() -> None:
    """Weights, type, device and batching are in it, without torch or the model's file."""
    identity = Hf().content_revision

    assert MODELS[MODEL].file("weights").sha256 in identity
    assert isinstance(Hf().endpoint, Endpoint)
    assert Hf(batch_size=4).content_revision == Hf(batch_size=8).content_revision
    others = {Hf(dtype="bfloat16"), Hf(device="cuda"), Hf(batch_size=4)}
    assert len({identity, *(other.content_revision for other in others)}) == 4


def test_without_torch_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check before a run names the extra to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with (
        Calls.at(tmp_path / "calls.sqlite") as calls,
        pytest.raises(MissingDependency, match=r"ragstone\[hf\]"),
    ):
        Hf().check(Services(calls=calls))
