"""Weights in training: a LoRA adapter on a base, or the whole model; and saving them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.core.environment import require
from ragstone.errors import ConfigError
from ragstone.models.causal_lm import Quantization
from ragstone.models.quiet import quiet
from ragstone.training.recipe import Method, Recipe


def require_training() -> None:
    """Raise `MissingDependency` if a package is missing that training needs."""
    require("training", "train", "torch", "transformers", "peft")


def with_adapter(
    model: Any,
    recipe: Recipe,
    task: str = "CAUSAL_LM",
    rows: Mapping[str, list[int]] | None = None,
) -> Any:
    """Return the model with the weights that the recipe's method trains.

    Args:
        model: the base, as transformers loads it.
        recipe: method and shape of the adapter.
        task: the kind of model, as peft names it.
        rows: layer -> rows of new tokens, which are trained beside the adapter.

    Raises:
        ConfigError: the base has none of the named layers.
    """
    if recipe.method.startswith("qlora"):
        from peft import prepare_model_for_kbit_training

        model = prepare_model_for_kbit_training(  # type: ignore[no-untyped-call]
            model,
            use_gradient_checkpointing=recipe.optim.checkpointing,
            gradient_checkpointing_kwargs={"use_reentrant": False},
        )
    elif recipe.optim.checkpointing:
        compute_again(model)
    if recipe.method == "full":
        # Steps of a small rate are lost in 16 bits; the arithmetic has the recipe's number type.
        return model.float()
    from peft import LoraConfig, get_peft_model

    shape = recipe.adapter
    targets = shape.targets if isinstance(shape.targets, str) else list(shape.targets)
    config = LoraConfig(
        r=shape.r,
        lora_alpha=shape.alpha,  # type: ignore[arg-type]
        lora_dropout=shape.dropout,
        target_modules=targets,
        bias="none",
        task_type=task,
        trainable_token_indices=dict(rows) if rows else None,
    )
    try:
        with quiet():
            adapted = get_peft_model(model, config)
    except ValueError as error:
        layers = sorted({name.rpartition(".")[2] for name in linear_layers(model)})
        raise ConfigError(
            f"the base {recipe.base!r} has none of the layers {shape.targets!r} "
            f"(adapter.targets); its linear layers are {', '.join(layers)}",
            key="adapter.targets",
            value=shape.targets,
        ) from error
    # peft writes the folder of this machine, and the digest of an adapter would depend on it.
    adapted.peft_config["default"].base_model_name_or_path = recipe.base
    return adapted


def quantization(method: Method) -> Quantization | None:
    """Return the number type to which a method rounds the weights of the base.

    >>> quantization("qlora(4)"), quantization("lora")
    ('int4', None)
    """
    rounded: dict[str, Quantization] = {"qlora(4)": "int4", "qlora(8)": "int8"}
    return rounded.get(method)


def compute_again(model: Any) -> None:
    """Let a model compute activations again in the backward pass instead of keeping them."""
    # transformers 5 has renamed the method.
    new = getattr(model, "activation_checkpointing_enable", None)
    (new or model.gradient_checkpointing_enable)({"use_reentrant": False})
    model.enable_input_require_grads()


def linear_layers(model: Any) -> list[str]:
    """Return the names of a model's linear layers."""
    import torch

    modules = model.named_modules()
    return [name for name, one in modules if isinstance(one, torch.nn.Linear)]


def save_weights(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write an adapter, or the whole model with its tokenizer, as safetensors."""
    adapted = hasattr(model, "peft_config")
    # A new token has rows of its own beside an adapter; the matrix around them is the base's.
    given = {"save_embedding_layers": False} if adapted else {}
    for config in model.peft_config.values() if adapted else ():
        # A set has another order in each process, and the digest would depend on it.
        if isinstance(config.target_modules, set):
            config.target_modules = sorted(config.target_modules)
    with quiet():
        model.save_pretrained(folder, **given)
    if not adapted:
        tokenizer.save_pretrained(folder)
    # peft writes a card of its own, with text about nothing.
    (folder / "README.md").unlink(missing_ok=True)
