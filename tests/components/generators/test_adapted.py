"""Generators with an adapter, with quantised weights and with a limit of the prompt's tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model
from tests.fakes.tiny_gguf import random_adapter, tiny_gguf

from ragstone.calls.client import Calls
from ragstone.calls.types import Failure, Reply, Request, Sampling, chat
from ragstone.components.generators.llm_base import LlmGenerator
from ragstone.components.generators.local import Local
from ragstone.components.generators.transformers import Hf
from ragstone.components.generators.vllm import Vllm
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.models import llama_server
from ragstone.models.causal_lm import load_causal_lm, moved
from ragstone.models.gguf_files import read_gguf, write_f16
from ragstone.models.in_process import unload
from ragstone.models.locate import weights_digest
from ragstone.protocols import Services
from ragstone.types import Context, ContextPassage, Query, Task

needs_torch = pytest.mark.needs("torch", "transformers", "peft", "gguf")
pytestmark = pytest.mark.filterwarnings("default")
BUNDLED = "smollm2-135m-instruct"


@pytest.fixture(scope="module", autouse=True)
def nothing_runs_on() -> Iterator[None]:
    """Remove the model from memory and stop the servers after the last test."""
    yield
    unload()
    llama_server.close_all()


def sharpen(folder: Path) -> None:
    """Make a model surer of its tokens: a random one finds all nearly equal."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"] *= 20
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `base`, `base.gguf` and `adapter`."""
    folder = tmp_path_factory.mktemp("tiny")
    sharpen(tiny_chat_model(folder / "base"))
    tiny_gguf(folder / "base", folder / "base.gguf")
    random_adapter(folder / "base", folder / "adapter")
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep converted adapters and digests of this test alone."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "cache"))


def config(folder: Path, base: str = BUNDLED, **record: str) -> str:
    """Write an adapter's configuration without usable weights, and return the folder."""
    folder.mkdir(parents=True)
    facts = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "base_model_name_or_path": base}
    (folder / "adapter_config.json").write_text(json.dumps(facts))
    (folder / "adapter_model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    if record:
        (folder / "training.json").write_text(json.dumps({"base": base, "digest": "d", **record}))
    return str(folder)


def replies(generator: LlmGenerator, requests: list[Request], log: Path) -> list[Reply]:
    """Return the replies; none may have failed."""
    with Calls.at(log) as calls:
        ended = list(calls.ask(generator.endpoint, requests))
    assert not [one for one in ended if isinstance(one, Failure)]
    return [one for one in ended if isinstance(one, Reply)]


def answers(generator: LlmGenerator, log: Path) -> list[Reply]:
    """Return greedy answers to a few prompts, with log-probabilities."""
    sampling = Sampling(max_tokens=12, logprobs=1)
    asked = [Request(chat(text).messages, sampling) for text in ("Hi", "Who built it?", "Why?")]
    return replies(generator, asked, log)


def differences(one: list[Reply], other: list[Reply]) -> list[float]:
    """Return the differences of log-probabilities before the first unlike token of each answer."""
    found = []
    for a, b in zip(one, other, strict=True):
        for mine, yours in zip(a.logprobs, b.logprobs, strict=False):
            # A byte that is part of a character has another text in llama.cpp.
            if mine.token != yours.token or not mine.token.isascii():
                break
            found.append(abs(mine.logprob - yours.logprob))
    return found


@needs_torch
def test_an_adapter_gives_the_same_answers_in_transformers_and_llama_cpp(
    tiny: Path, tmp_path: Path
) -> None:
    """Log-probabilities of whole answers agree to .02; those without the adapter do not."""
    pytest.importorskip("xllamacpp", reason="NOT RUN: needs pip install 'ragstone[local]'")
    adapter, log = str(tiny / "adapter"), tmp_path / "calls.sqlite"
    torch = Hf(adapter=adapter, model=str(tiny / "base"))
    llama = Local(adapter=adapter, model=str(tiny / "base.gguf"), workers=1, context_tokens=512)

    with_torch, with_llama = answers(torch, log), answers(llama, log)
    without = answers(replace(llama, adapter=""), log)

    assert len(differences(with_torch, with_llama)) > 12
    # Without the permutation of rows the largest difference is .16.
    assert max(differences(with_torch, with_llama)) < 0.02
    assert [one.text for one in with_torch] == [one.text for one in with_llama]
    assert [one.text for one in with_llama] != [one.text for one in without]


@needs_torch
def test_an_adapter_without_a_model_is_added_to_its_base(tiny: Path, tmp_path: Path) -> None:
    """A PEFT folder names its base; the adapter's digest is part of the identity."""
    adapted, plain = Hf(adapter=str(tiny / "adapter")), Hf(str(tiny / "base"))

    assert adapted.model == str(tiny / "base")
    assert adapted.endpoint.identity.startswith(plain.endpoint.identity)
    log = tmp_path / "calls.sqlite"
    assert [a.text for a in answers(adapted, log)] != [a.text for a in answers(plain, log)]


@needs_torch
def test_a_gguf_file_is_moved_to_the_device(tiny: Path) -> None:
    """Transformers calls the model of a GGUF file quantised, but its weights are plain ones."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny, gguf_file="base.gguf")

    assert model.is_quantized
    assert {weights.device.type for weights in moved(model, "meta").parameters()} == {"meta"}


@needs_torch
def test_adapted_weights_are_shared_by_base_and_16_bit_copy(tiny: Path, tmp_path: Path) -> None:
    """A copy of the base with 16-bit weights fits the adapter of the base, and no other."""
    base, copied = tiny / "base.gguf", tmp_path / "f16.gguf"
    write_f16(read_gguf(base), copied)
    own = config(tmp_path / "own", str(base), base_digest=weights_digest(str(base)))
    other = config(tmp_path / "other", str(base), base_digest="0" * 64)

    assert Local(str(copied), adapter=own).content_revision
    with pytest.raises(ConfigError, match="does not fit the model"):
        _ = Local(str(copied), adapter=other).content_revision


@pytest.mark.parametrize("kind", [Hf, Local, Vllm])
def test_the_digest_of_the_adapter_is_part_of_the_key(kind: Any, tmp_path: Path) -> None:
    """Another adapter is another model; the folder's path and name are not part of the key."""
    own: dict[str, str] = {}
    for name, base in (("one", BUNDLED), ("two", BUNDLED), ("three", f"{BUNDLED}")):
        own[name] = config(tmp_path / name, base)
    changed = Path(own["three"]) / "adapter_model.safetensors"
    changed.write_bytes((3).to_bytes(8, "little") + b"{ }")
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"weights")
    (model / "m.gguf").write_bytes(b"weights")
    name = str(model / "m.gguf") if kind is Local else str(model)

    plain, one, two, three = (
        cache_key_parts(kind(name, adapter=a)) for a in ("", own["one"], own["two"], own["three"])
    )
    assert one == two
    assert plain != one != three != plain


@pytest.mark.parametrize(("kind", "usual"), [(Hf, BUNDLED), (Local, BUNDLED)])
def test_without_model_and_adapter_the_bundled_model_answers(kind: Any, usual: str) -> None:
    """The default stays as it was, and so do the keys."""
    assert kind().model == usual
    assert cache_key_parts(kind()) == cache_key_parts(kind(usual))


def test_vllm_needs_a_model_or_an_adapter(tmp_path: Path) -> None:
    """There is no default model on a GPU; the base of an adapter is one."""
    with pytest.raises(ConfigError, match="give `model` or `adapter`"):
        Vllm()
    assert Vllm(adapter=config(tmp_path / "a", "owner/base")).model == "owner/base"


def test_an_adapter_is_found_beside_the_experiment_file(tmp_path: Path) -> None:
    """A relative path is one from the folder of the file."""
    config(tmp_path / "trained")
    written = {"name": "local", "adapter": "trained"}

    made = create("generators", written, where="system 'a', generator", folder=tmp_path)

    assert made.adapter == str(tmp_path / "trained")
    assert made.model == BUNDLED
    assert made.of_run("1").content_revision == made.content_revision
    with pytest.raises(ModelFileError, match="there is no adapter at nowhere"):
        create("generators", {**written, "adapter": "nowhere"}, where="x", folder=tmp_path)


@pytest.mark.parametrize("kind", [Hf, Local])
def test_an_adapter_of_another_base_is_refused_before_a_call(kind: Any, tmp_path: Path) -> None:
    """The check of a run raises; the message names both models."""
    folder = config(tmp_path / "a", "models/other.gguf", base_digest="0" * 64)
    generator = kind(BUNDLED, adapter=folder)

    with pytest.raises(ConfigError, match=r"'models/other.gguf' .* does not fit .*smollm2"):
        _ = generator.endpoint


def long_task(passages: int) -> Task:
    """Return a query with passages of about 100 characters."""
    texts = [f"Passage {n}: " + "word " * 18 for n in range(passages)]
    shown = tuple(ContextPassage(f"p{n}", text, "gold") for n, text in enumerate(texts))
    return Task(Query("q", "Who?"), Context("q", "gold", shown))


@needs_torch
def test_passages_that_do_not_fit_are_dropped_from_the_end(tiny: Path, tmp_path: Path) -> None:
    """The model's own tokenizer counts the whole prompt, with its instructions and template."""
    whole = Hf(str(tiny / "base"), max_tokens=2)
    task = long_task(6)
    [reply] = replies(whole, [whole.request(task)], tmp_path / "calls.sqlite")
    assert reply.tokens_in
    cut = replace(whole, max_input_tokens=reply.tokens_in - 1)

    assert cut.dropped(task) == "passage p5"
    [shorter] = replies(cut, [cut.request(task)], tmp_path / "calls.sqlite")
    assert shorter.tokens_in
    assert shorter.tokens_in < reply.tokens_in
    assert "Passage 4" in (shorter.rendered or "")
    assert "Passage 5" not in (shorter.rendered or "")
    roomy = replace(whole, max_input_tokens=reply.tokens_in)
    assert roomy.dropped(task) == ""
    assert roomy.request(task).messages == whole.request(task).messages


@needs_torch
def test_a_prompt_that_is_too_long_without_passages_is_a_failed_call(
    tiny: Path, tmp_path: Path
) -> None:
    """The reason has both lengths."""
    model = Hf(str(tiny / "base"), max_input_tokens=8, max_tokens=2)
    with Calls.at(tmp_path / "calls.sqlite") as calls:
        [ended] = list(calls.ask(model.endpoint, [model.request(long_task(2))]))

    assert isinstance(ended, Failure)
    assert "more than max_input_tokens (8)" in ended.reason


def test_new_parameters_change_a_key_only_if_they_are_set() -> None:
    """Kept results of a generator without them stay valid."""
    plain = Hf()
    parts = str(cache_key_parts(plain))

    assert "quantization" not in parts
    assert "max_input_tokens" not in parts
    others = [replace(plain, max_input_tokens=512), replace(plain, quantization="int8")]
    assert len({parts, *(str(cache_key_parts(one)) for one in others)}) == 3
    assert others[0].endpoint.identity == plain.endpoint.identity
    assert others[1].endpoint.identity == f"{plain.endpoint.identity} int8"


def test_quantised_weights_need_bitsandbytes_and_unquantised_ones(tmp_path: Path) -> None:
    """Both are found before a call; so is a limit given twice."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"weights")
    for settings, error, reason in (
        ({}, MissingDependency, r"ragstone\[quantized\]"),
        ({"quantization_config": {"quant_method": "awq"}}, ConfigError, "quantisation of their"),
    ):
        (model / "config.json").write_text(json.dumps(settings))
        with Calls.at(tmp_path / "c") as calls, pytest.raises(error, match=reason):
            Hf(str(model), quantization="int4").check(Services(calls=calls))
    with pytest.raises(ConfigError, match="both limit the prompt"):
        Hf(budget=100, max_input_tokens=100)
    with pytest.raises(ConfigError, match="max_input_tokens must be 1 or more"):
        Hf(max_input_tokens=0)
    with pytest.raises(ConfigError, match="not to 8; use int4, hf"):
        Vllm("owner/base", quantization="int8")


@needs_torch
def test_new_weights_in_one_place_are_another_model(tmp_path: Path) -> None:
    """A model that was trained again is not the one in memory."""
    folder = tiny_chat_model(tmp_path / "base")
    before = Hf(str(folder)).loading
    sharpen(folder)
    assert Hf(str(folder)).loading != before


@needs_torch
def test_code_in_a_models_folder_is_neither_run_nor_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although somebody would say yes."""
    folder = tiny_chat_model(tmp_path / "base")
    facts = json.loads((folder / "config.json").read_text())
    facts |= {
        "model_type": "own",
        "auto_map": {"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"},
    }
    (folder / "config.json").write_text(json.dumps(facts))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    with pytest.raises(ModelFileError, match="transformers cannot load the model"):
        load_causal_lm(folder, "own", "cpu", "float32")
    assert not (tmp_path / "ran").exists()
