"""The adapter to vLLM: what it is told and how its outputs are read.

vLLM itself runs in none of these tests. `FakeLLM` has the shape of its documented interface, so
they show that the adapter fits that shape, not that an engine of some version has it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import pytest

from ragstone.calls.client import Calls
from ragstone.calls.types import Failure, Reply, Request, Sampling, chat
from ragstone.components.generators.vllm import (
    Vllm,
    VllmModel,
    engine_arguments,
    read_output,
    sampling_arguments,
)
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.models import locate
from ragstone.models.in_process import draw_seed, unload
from ragstone.protocols import Services


def value(token: str, logprob: float) -> Any:
    """Return an object like `vllm.Logprob`."""
    return SimpleNamespace(decoded_token=token, logprob=logprob)


USAGE, STREAM = "VLLM_NO_USAGE_STATS", "VLLM_LOGGING_STREAM"
VARIABLES = (USAGE, STREAM, "VLLM_LOGGING_LEVEL", "VLLM_HOST_IP")
REPORTED = [
    {7: value("Yes", -0.1), 9: value("No", -2.5)},
    {8: value("!", -3.0), 3: value(".", -0.2), 4: value("?", -1.0)},
]


class FakeTokenizer:
    """One token per character."""

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        """Return the messages in angle brackets."""
        assert not tokenize
        assert add_generation_prompt
        return "".join(f"<{m['role']}>{m['content']}" for m in messages) + "<assistant>"

    def __call__(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
        """Return the characters' numbers."""
        assert not add_special_tokens
        return {"input_ids": [ord(letter) for letter in text]}


class FakeLLM:
    """The part of `vllm.LLM` that the adapter uses; an answer describes its request."""

    made: ClassVar[list[FakeLLM]] = []

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        limits = SimpleNamespace(max_model_len=arguments.get("max_model_len", 1000))
        self.llm_engine = SimpleNamespace(model_config=limits)
        self.made.append(self)

    def get_tokenizer(self) -> FakeTokenizer:
        """Return the tokenizer."""
        return FakeTokenizer()

    def generate(
        self,
        prompts: Sequence[Mapping[str, Any]],
        sampling_params: Sequence[Any],
        *,
        use_tqdm: bool,
        lora_request: Any = None,
    ) -> list[Any]:
        """Return one output per prompt."""
        assert not use_tqdm
        self.lora_request = lora_request
        pairs = zip(prompts, sampling_params, strict=True)
        return [
            output(p["prompt_token_ids"], str(s.given), REPORTED if "logprobs" in s.given else None)
            for p, s in pairs
        ]


class LoRARequest(NamedTuple):
    """The class of vLLM that names an adapter."""

    lora_name: str
    lora_int_id: int
    lora_path: str


class Given:
    """Stores the arguments of a class of vLLM."""

    def __init__(self, **given: Any) -> None:
        self.given = given


def output(prompt: list[int], text: str, logprobs: Any = None) -> Any:
    """Return an object like `vllm.RequestOutput`."""
    written = SimpleNamespace(text=text, token_ids=[7, 8], finish_reason="stop", logprobs=logprobs)
    return SimpleNamespace(prompt_token_ids=prompt, outputs=[written])


@pytest.fixture
def fake_vllm(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FakeLLM]]:
    """Install fake modules in place of vLLM."""
    whole, part = ModuleType("vllm"), ModuleType("vllm.sampling_params")
    whole.__dict__.update(LLM=FakeLLM, SamplingParams=Given)
    part.__dict__.update(StructuredOutputsParams=Given)
    lora = ModuleType("vllm.lora.request")
    lora.__dict__.update(LoRARequest=LoRARequest)
    monkeypatch.setitem(sys.modules, "vllm.lora.request", lora)
    monkeypatch.setitem(sys.modules, "vllm", whole)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", part)
    monkeypatch.setattr(locate, "require", lambda *_: None)
    for variable in VARIABLES:  # set while the engine is made, and taken back afterwards
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    FakeLLM.made.clear()
    yield FakeLLM
    unload()


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Return a folder that could be a model's."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"weights")
    return str(tmp_path / "model")


def test_all_sampling_parameters_are_mapped() -> None:
    """Each parameter has its vLLM name; a schema becomes a structured output."""
    sampling = Sampling(
        temperature=0.7,
        max_tokens=None,
        top_p=0.9,
        seed=3,
        stop=("\n", "END"),
        logprobs=2,
        json_schema={"type": "object"},
        extra={"top_k": 20},
    )
    request = Request((("user", "Hi"),), sampling)

    given, form = sampling_arguments(request)

    assert given == {
        "temperature": 0.7,
        "max_tokens": None,
        "seed": draw_seed(request),
        "top_p": 0.9,
        "stop": ["\n", "END"],
        "logprobs": 2,
        "top_k": 20,
    }
    assert form == {"json": {"type": "object"}}


def test_a_grammar_is_mapped_and_nothing_else_is_invented() -> None:
    """Greedy decoding has no seed; absent parameters are left out."""
    request = Request((("user", "Hi"),), Sampling(max_tokens=4, grammar='root ::= "a"'))

    assert sampling_arguments(request) == (
        {"temperature": 0.0, "max_tokens": 4},
        {"grammar": 'root ::= "a"'},
    )


def test_the_engines_arguments_can_be_overridden() -> None:
    """Options override the arguments; by default the model's own context is used."""
    made = engine_arguments("/m", "bfloat16", None, {"seed": 5, "tensor_parallel_size": 2})

    assert made == {"model": "/m", "dtype": "bfloat16", "seed": 5, "tensor_parallel_size": 2}


def test_an_output_is_read_with_its_log_probabilities() -> None:
    """The chosen token's value and the requested number of alternatives are returned."""
    reply = read_output(output([1, 2, 3], "Yes!", REPORTED), "<p>", "m", 2)

    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("Yes!", 3, 2)
    assert [(t.token, t.logprob, t.top) for t in reply.logprobs] == [
        ("Yes", -0.1, (("Yes", -0.1), ("No", -2.5))),
        ("!", -3.0, ((".", -0.2), ("?", -1.0))),
    ]


def test_a_run_goes_through_the_call_log(
    fake_vllm: type[FakeLLM], folder: str, tmp_path: Path
) -> None:
    """Prompts are rendered by the template, sent as tokens, answered in order and kept."""
    model = Vllm(folder, context_tokens=60)
    asked = [
        chat("Hi", max_tokens=5, logprobs=1),
        chat("x" * 100),
        chat("Ho", json_schema={"type": "null"}),
    ]

    with Calls.at(tmp_path / "calls.sqlite") as calls:
        first, long, shaped = calls.ask(model.endpoint, asked)

    assert isinstance(first, Reply)
    assert first.rendered == "<user>Hi<assistant>"
    assert first.tokens_in == len(first.rendered)
    assert "'max_tokens': 5" in first.text
    assert [token.top for token in first.logprobs] == [(("Yes", -0.1),), ((".", -0.2),)]
    assert isinstance(long, Failure)
    assert "longer than the context" in long.reason
    assert isinstance(shaped, Reply)
    assert "structured_outputs" in shaped.text
    [engine] = fake_vllm.made
    assert engine.arguments["max_model_len"] == 60


def test_the_identity_contains_everything_that_changes_answers(folder: str) -> None:
    """Weights, type and options are in the key; the number of parallel prompts is not."""
    plain = Vllm(folder)

    assert plain.content_revision == Vllm(folder, at_once=4).content_revision
    others = {
        Vllm(folder, dtype="float16").content_revision,
        Vllm(folder, options={"a": 1}).content_revision,
    }
    (Path(folder) / "model.safetensors").write_bytes(b"other weights")
    assert len(others | {plain.content_revision, Vllm(folder).content_revision}) == 4


def test_an_option_does_not_allow_a_models_own_code(folder: str) -> None:
    """Its code would not be in the key; the way out is named."""
    with pytest.raises(ConfigError, match=r"options cannot have trust_remote_code.*endpoint"):
        Vllm(folder, options={"trust_remote_code": True})


def test_the_engine_runs_the_code_of_a_commit_alone(
    fake_vllm: type[FakeLLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a commit, vLLM's error becomes one that names the ways out."""
    assert "trust_remote_code" not in engine_arguments("m", "auto", None, {})
    assert engine_arguments("m", "auto", None, {}, own_code=True)["trust_remote_code"] is True

    def refuse(_: FakeLLM, **_arguments: Any) -> None:
        raise ValueError("set the option `trust_remote_code=True` to remove this error")

    monkeypatch.setattr(fake_vllm, "__init__", refuse)
    with pytest.raises(ModelFileError, match=r"`endpoint` or `chat`.*model_code=COMMIT"):
        VllmModel("m", engine_arguments("m", "auto", None, {}))


@pytest.mark.usefixtures("fake_vllm")
def test_vllm_reports_no_usage_and_keeps_out_of_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the environment says otherwise: these variables are read when vLLM is imported."""
    VllmModel("m", engine_arguments("m", "auto", None, {}))
    assert (os.environ[USAGE], os.environ[STREAM]) == ("1", "ext://sys.stderr")
    monkeypatch.setenv(STREAM, "ext://sys.stdout")
    VllmModel("m", engine_arguments("m", "auto", None, {}))
    assert os.environ[STREAM] == "ext://sys.stdout"


@pytest.mark.parametrize(
    ("path", "way"), [("m.gguf", "use the generator local"), ("m", "the output of vLLM above")]
)
def test_a_model_that_vllm_cannot_load_is_named(
    fake_vllm: type[FakeLLM], monkeypatch: pytest.MonkeyPatch, path: str, way: str
) -> None:
    """With vLLM's words and a way out."""

    def refuse(_: FakeLLM, **_arguments: Any) -> None:
        raise OSError("not a valid JSON file.")

    monkeypatch.setattr(fake_vllm, "__init__", refuse)
    with pytest.raises(ModelFileError, match=rf"cannot load the model 'm' .*JSON file\..*{way}"):
        VllmModel("m", engine_arguments(path, "auto", None, {}))


def test_without_vllm_the_way_out_is_named(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check before a run names the extra to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with (
        Calls.at(tmp_path / "calls.sqlite") as calls,
        pytest.raises(MissingDependency, match=r"ragstone\[vllm\]"),
    ):
        Vllm(folder).check(Services(calls=calls))


def test_sizes_start_at_one() -> None:
    """A size of 0 is refused before anything is run."""
    with pytest.raises(ConfigError, match="at_once"):
        Vllm("x/y", at_once=0)


def test_an_adapter_and_quantised_weights_are_arguments_of_the_engine(
    fake_vllm: type[FakeLLM], folder: str, tmp_path: Path
) -> None:
    """The rank is the next one that vLLM accepts; every prompt names the adapter."""
    (tmp_path / "adapter").mkdir()
    config = {"peft_type": "LORA", "r": 12, "lora_alpha": 8, "base_model_name_or_path": folder}
    (tmp_path / "adapter" / "adapter_config.json").write_text(json.dumps(config))
    (tmp_path / "adapter" / "adapter_model.safetensors").write_bytes(
        (2).to_bytes(8, "little") + b"{}"
    )
    model = Vllm(adapter=str(tmp_path / "adapter"), quantization="int4")
    assert model.found_adapter

    with Calls.at(tmp_path / "calls.sqlite") as calls:
        [reply] = calls.ask(model.endpoint, [chat("Hi")])

    assert isinstance(reply, Reply)
    [engine] = fake_vllm.made
    assert {"enable_lora": True, "max_lora_rank": 16, "quantization": "bitsandbytes"}.items() <= (
        engine.arguments.items()
    )
    name = model.found_adapter.digest[:12]
    assert engine.lora_request == (name, 1, str(tmp_path / "adapter"))

    more = json.dumps(config | {"rank_pattern": {"q_proj": 4}})
    (tmp_path / "adapter" / "adapter_config.json").write_text(more)
    with pytest.raises(ConfigError, match="uses rank_pattern, which vLLM does not have"):
        _ = Vllm(adapter=str(tmp_path / "adapter")).endpoint


@pytest.mark.usefixtures("fake_vllm")
def test_a_prompt_above_max_input_tokens_is_a_failed_call(folder: str, tmp_path: Path) -> None:
    """A request of another component cannot be cut."""
    model = Vllm(folder, max_input_tokens=30)

    with Calls.at(tmp_path / "calls.sqlite") as calls:
        short, long = calls.ask(model.endpoint, [chat("Hi"), chat("H" * 40)])

    assert isinstance(short, Reply)
    assert isinstance(long, Failure)
    assert "more than max_input_tokens (30)" in long.reason
