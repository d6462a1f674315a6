"""Loading a causal language model and its tokenizer with transformers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ragstone.core.environment import require
from ragstone.core.screen_text import cause_of
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.adapters import Adapter
from ragstone.models.locate import FROM_FILES, TRANSFORMERS_LM
from ragstone.models.quiet import quiet
from ragstone.types import ChatMessage

Quantization: TypeAlias = Literal["int4", "int8"]
"""Number type to which weights are rounded when a model is loaded."""
_FAILURES: Final = (OSError, ValueError, KeyError, RuntimeError, AssertionError, ImportError)
"""Errors of transformers and peft; ImportError: a package for the folder's own quantisation."""


def failures(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the errors of loading a model, that of a damaged file of weights, and more."""
    from safetensors import SafetensorError

    return *_FAILURES, SafetensorError, *more


def load_causal_lm(
    path: Path,
    name: str,
    device: str,
    dtype: str,
    quantization: Quantization | None = None,
    *,
    own_code: bool = False,
) -> tuple[Any, Any]:
    """Return the tokenizer and the model of a GGUF file or of a folder.

    Args:
        path: a GGUF file, or a folder as transformers saves it.
        name: the model's name in errors.
        device: the kind of device that the model is moved to.
        dtype: number type of the weights, or of the arithmetic with quantised ones.
        quantization: the weights are quantised while they are loaded. A folder whose weights are
            quantised already, such as one of AWQ or GPTQ, needs no parameter.
        own_code: whether the code of the folder may run; its digest is the caller's work.

    Raises:
        MissingDependency: a package is not installed.
        ModelFileError: transformers cannot load the model.
        ConfigError: the model has no chat template, or cannot be quantised.
    """
    TRANSFORMERS_LM.require()
    if quantization:
        check_quantization(path, name)
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder, given = _place(path, own_code=own_code)
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder, **given)
            given |= _weights(device, dtype, quantization)
            model = moved(AutoModelForCausalLM.from_pretrained(folder, **given), device)
            if path.is_file():
                _as_plain(model)
    except failures() as error:
        raise ModelFileError(
            f"transformers cannot load the model {name!r} from {path} on {device!r}: "
            f"{cause_of(error)}"
        ) from error
    if not tokenizer.chat_template:
        raise ConfigError(
            f"the model {name!r} has no chat template, so it cannot be sent chat messages; "
            "use an instruction-tuned model, or put a chat_template.jinja into its folder"
        )
    return tokenizer, model


def _as_plain(model: Any) -> None:
    """Remove the marks of a quantised model: the weights of a GGUF file are plain numbers now.

    transformers 5.24 refuses to save a model with these marks.
    """
    for marks in (model, model.config):
        for name in ("hf_quantizer", "quantization_method", "is_quantized", "quantization_config"):
            vars(marks).pop(name, None)


def moved(model: Any, device: str) -> Any:
    """Return a model on a kind of device; weights that were quantised there cannot be moved."""
    return model if model.device.type == device else model.to(device)


def _place(path: Path, *, own_code: bool) -> tuple[Path, dict[str, Any]]:
    """Return the folder of a model, and the arguments of transformers that find its files."""
    given: dict[str, Any] = {"gguf_file": path.name} if path.is_file() else {}
    return path.parent if path.is_file() else path, given | FROM_FILES | {
        "trust_remote_code": own_code
    }


def plain_text(messages: Sequence[ChatMessage]) -> str:
    """Return what a model without a chat template reads: the texts, with empty lines between."""
    return "\n\n".join(text for _, text in messages)


def count_chat_tokens(
    path: Path, name: str, messages: Sequence[ChatMessage], *, own_code: bool = False
) -> int:
    """Return the number of tokens of a prompt after the chat template of a model.

    Raises:
        MissingDependency: transformers is not installed.
        ModelFileError: the tokenizer cannot be loaded.
    """
    tokenizer = _tokenizer(path, name, own_code=own_code)
    if not tokenizer.chat_template:
        return len(tokenizer(plain_text(messages))["input_ids"])
    sent = [{"role": role, "content": text} for role, text in messages]
    text = tokenizer.apply_chat_template(sent, tokenize=False, add_generation_prompt=True)
    return len(tokenizer(text, add_special_tokens=False)["input_ids"])


@cache
def _tokenizer(path: Path, name: str, *, own_code: bool) -> Any:
    require("max_input_tokens", "hf", "transformers")
    from transformers import AutoTokenizer

    folder, given = _place(path, own_code=own_code)
    try:
        with quiet():
            return AutoTokenizer.from_pretrained(folder, **given)
    except failures() as error:
        raise ModelFileError(f"the tokenizer of {name!r} cannot be loaded: {error}") from error


def check_quantization(path: Path, name: str) -> None:
    """Raise if the weights of a model cannot be quantised while they are loaded.

    Raises:
        MissingDependency: bitsandbytes is not installed.
        ConfigError: the weights are quantised already.
    """
    own = path / "config.json"
    if path.is_file() or (own.is_file() and "quantization_config" in own.read_text("utf-8")):
        raise ConfigError(
            f"the weights of the model {name!r} have a quantisation of their own; remove "
            "`quantization`, or give the folder of the unquantised model",
            key="quantization",
        )
    require("the rounding of weights", "quantized", "bitsandbytes")


def _weights(device: str, dtype: str, quantization: Quantization | None) -> dict[str, Any]:
    """Return the arguments of transformers for number types and the place of the weights."""
    import torch

    number = getattr(torch, dtype)
    if quantization is None:
        return {"dtype": number}
    from transformers import BitsAndBytesConfig

    form = (
        BitsAndBytesConfig(load_in_8bit=True)
        if quantization == "int8"
        else BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=number,
        )
    )
    return {"dtype": number, "quantization_config": form, "device_map": {"": device}}


def add_adapter(model: Any, adapter: Adapter) -> Any:
    """Return a model of peft: the base and its adapter, whose weights stay float32.

    Raises:
        MissingDependency: peft is not installed.
        ModelFileError: the adapter does not fit the model.
    """
    require("an adapter", "train", "peft")
    from peft import PeftModel

    try:
        with quiet():
            # Weights of the adapter that are missing would stay random: peft only warns.
            warnings.filterwarnings("error", message="Found missing adapter keys")
            return PeftModel.from_pretrained(model, str(adapter.folder))
    except failures(UserWarning) as error:
        raise ModelFileError(
            f"the adapter {adapter.folder} does not fit its base {adapter.base!r}: "
            f"{cause_of(error)}"
        ) from error
