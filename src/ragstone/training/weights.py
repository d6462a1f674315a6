"""Weights in training: a LoRA adapter on a base, or the whole model; and saving them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragstone.core.environment import require
from ragstone.errors import ConfigError
from ragstone.models.causal_lm import quiet
from ragstone.training.recipe import Recipe


def require_training() -> None:
    """Raise `MissingDependency` if a package is missing that training needs."""
    require("training", "train", "torch", "transformers", "peft")


def with_adapter(model: Any, recipe: Recipe, task: str = "CAUSAL_LM") -> Any:
    """Return the model with the weights that the recipe's method trains.

    Args:
        model: the base, as transformers loads it.
        recipe: method and shape of the adapter.
        task: the kind of model, as peft names it.

    Raises:
        ConfigError: the base has none of the named layers.
    """
    if recipe.optim.checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    if recipe.method == "full":
        return model.float() if recipe.device == "cpu" else model
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
    )
    try:
        with quiet():
            return get_peft_model(model, config)
    except ValueError as error:
        layers = sorted({name.rpartition(".")[2] for name in linear_layers(model)})
        raise ConfigError(
            f"the base {recipe.base!r} has none of the layers {shape.targets!r} "
            f"(adapter.targets); its linear layers are {', '.join(layers)}",
            key="adapter.targets",
            value=shape.targets,
        ) from error


def linear_layers(model: Any) -> list[str]:
    """Return the names of a model's linear layers."""
    import torch

    modules = model.named_modules()
    return [name for name, one in modules if isinstance(one, torch.nn.Linear)]


def save_weights(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write an adapter, or the whole model with its tokenizer, as safetensors."""
    with quiet():
        model.save_pretrained(folder)
    if not hasattr(model, "peft_config"):
        tokenizer.save_pretrained(folder)
    # peft writes a card of its own, with text about nothing.
    (folder / "README.md").unlink(missing_ok=True)
