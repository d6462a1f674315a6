"""The training file: base model, data, method, shape of the adapter, optimisation, output.

docs/train.md lists the keys. The defaults are those of BERGEN (2024), table 8.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from pydantic import ConfigDict, Field

from ragstone.core.own_files import read_model
from ragstone.errors import ConfigError

Method: TypeAlias = Literal["lora", "qlora(4)", "qlora(8)", "full"]
Dtype: TypeAlias = Literal["float32", "bfloat16"]
Share: TypeAlias = Annotated[float, Field(ge=0, lt=1)]
Count: TypeAlias = Annotated[int, Field(ge=1)]
R = TypeVar("R", bound="Recipe")

_FORBID: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True)
class AdapterShape:
    """The shape of a LoRA adapter."""

    __pydantic_config__: ClassVar = _FORBID

    r: Count = 32
    """The rank."""
    alpha: Annotated[float, Field(gt=0)] = 64
    """The scale: the update is multiplied by alpha / r."""
    dropout: Share = 0.1
    targets: Literal["all-linear"] | tuple[str, ...] = "all-linear"
    """The layers with an update: names such as q_proj, or all linear layers but the output."""


@dataclass(frozen=True, kw_only=True)
class Optim:
    """The optimisation: AdamW, a linear warm-up, then a linear decay to 0."""

    __pydantic_config__: ClassVar = _FORBID

    epochs: Annotated[float, Field(gt=0)] = 1.0
    """Passes over the examples; `steps` replaces them."""
    steps: Count | None = None
    batch: Count | None = None
    """Examples per step; None: the largest number that fits into memory."""
    accumulate: Count = 1
    """Parts of a batch that are computed one after the other, in less memory."""
    lr: Annotated[float, Field(gt=0)] = 1e-4
    """The highest learning rate."""
    warmup: Share = 0.05
    """Share of the steps with a rising learning rate."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.1
    clip: Annotated[float, Field(gt=0)] = 1.0
    """Largest norm of the gradient."""
    validations: Count = 10
    """Measurements of the validation loss during the training, besides that before it."""
    patience: Count | None = None
    """Stop after n validations without a lower loss, and keep the best weights."""
    checkpoint_every: Count | None = None
    """Steps between two checkpoints; None: one at each validation."""
    checkpointing: bool = False
    """Whether activations are computed again in the backward pass, in less memory."""
    packing: bool = False
    """Whether several examples share a sequence; each one sees itself alone."""
    dtype: Dtype = "float32"
    """Number type of the frozen weights and of the arithmetic."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The keys that all training files share."""

    __pydantic_config__: ClassVar = _FORBID

    base: str
    """A bundled model's name, a folder, or a name on the hub."""
    data: Any
    """The data set, as in an experiment file."""
    output: str
    """The folder of the result, relative to the current folder."""
    method: Method = "lora"
    adapter: AdapterShape = field(default_factory=AdapterShape)
    optim: Optim = field(default_factory=Optim)
    seed: int = 0
    validation: Any = 0.1
    """Share of the data, or a data set, whose loss is measured during the training."""
    test: Any = 0.2
    """Share of the data, or a data set, that the training never reads."""
    max_tokens: Count = 2048
    """Longer examples are left out, and counted."""
    device: Literal["cpu", "cuda", "mps", "xpu"] = "cpu"
    licence: str = ""
    """Licence of the data, for the model card."""


@dataclass(frozen=True, kw_only=True)
class GeneratorRecipe(Recipe):
    """The keys of `ragstone train generator`."""

    setting: Any = "retrieved(5)"
    """The contexts: a context setting of an experiment, or a list from which each query gets one
    in turn."""
    retriever: Any = "bm25"
    reranker: Any = None
    prompt: str = ""
    """Name of a prompt, as in a generator; empty: the usual one."""
    budget: int | None = None
    """Maximum tokens of history and passages, as in a generator."""


def read_recipe(path: Path, kind: type[R]) -> R:
    """Return a training file.

    Raises:
        ConfigError: the file cannot be read, a key is unknown, missing or wrong, or the output
            cannot be a folder that this user writes.
    """
    found = read_model(path, "training file", kind)
    require_output(Path(found.output).expanduser())
    for key in ("validation", "test"):
        share = getattr(found, key)
        if isinstance(share, int | float) and not 0 <= share < 1:
            raise ConfigError(
                f"{path}: {key}: a share must be at least 0 and below 1, found {share}",
                path=path,
                key=key,
                value=share,
            )
    return found


def require_output(folder: Path) -> None:
    """Raise `ConfigError` if a folder cannot be made or written; nothing is made."""
    nearest = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not nearest.is_dir():
        problem = f"{nearest} is a file"
    elif not os.access(nearest, os.W_OK | os.X_OK):
        problem = f"there is no permission to write into {nearest}"
    else:
        return
    raise ConfigError(
        f"the output folder {folder} cannot be written: {problem}; choose another one (output)",
        key="output",
        value=str(folder),
    )
