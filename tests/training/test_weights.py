"""The trained weights: adapters of the asked shape, whole models, and layers that do not exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model, tiny_tokenizer

from ragstone.errors import ConfigError
from ragstone.training.checkpoints import trainable
from ragstone.training.recipe import AdapterShape, Optim, Recipe
from ragstone.training.weights import linear_layers, save_weights, with_adapter

pytestmark = pytest.mark.needs("torch", "transformers", "peft")


def model(folder: Path) -> object:
    """Return a tiny model."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny_chat_model(folder / "base"))


def recipe(**more: Any) -> Recipe:
    """Return the keys of a file."""
    return Recipe(base="x", data="x", output="x", **more)


def test_an_adapter_has_two_matrices_per_linear_layer(tmp_path: Path) -> None:
    """All linear layers but the output by default; named ones alone if they are named."""
    shape = AdapterShape(r=4)
    made = with_adapter(model(tmp_path), recipe(adapter=shape))
    names = list(trainable(made))
    assert len(names) == 2 * 7 * 2
    assert not any("lm_head" in name for name in names)
    named = AdapterShape(r=4, targets=("q_proj",))
    made = with_adapter(model(tmp_path), recipe(adapter=named))
    assert len(list(trainable(made))) == 2 * 2
    save_weights(made, tiny_tokenizer(), tmp_path / "out")
    kept = {path.name for path in (tmp_path / "out").iterdir()}
    assert kept == {"adapter_config.json", "adapter_model.safetensors"}


def test_the_layers_are_written_in_one_order(tmp_path: Path) -> None:
    """A set has another order in each process; the digest of the adapter may not."""
    made = with_adapter(model(tmp_path), recipe())
    save_weights(made, tiny_tokenizer(), tmp_path / "out")
    text = (tmp_path / "out" / "adapter_config.json").read_text(encoding="utf-8")
    layers = json.loads(text)["target_modules"]
    assert layers == sorted(layers)
    assert len(layers) > 1


def test_full_training_changes_every_weight(tmp_path: Path) -> None:
    """No parameter is frozen."""
    made = with_adapter(model(tmp_path), recipe(method="full"))
    assert len(trainable(made)) == len(list(made.parameters()))


def test_trained_weights_have_32_bits(tmp_path: Path) -> None:
    """On each device: a step of 1e-4 would not change most numbers of 16 bits."""
    import torch

    half = recipe(method="full", device="cuda", optim=Optim(dtype="bfloat16"))
    found = with_adapter(model(tmp_path).to(torch.bfloat16), half)  # type: ignore[attr-defined]
    assert {one.dtype for one in found.parameters()} == {torch.float32}


def test_missing_layers_are_named_with_those_that_exist(tmp_path: Path) -> None:
    """Before anything is trained."""
    base = model(tmp_path)
    assert "lm_head" in linear_layers(base)
    with pytest.raises(ConfigError, match=r"none of the layers .*Wqkv.*down_proj.*v_proj"):
        with_adapter(base, recipe(adapter=AdapterShape(targets=("Wqkv",))))
