"""Base of generators on this machine: a model with or without a LoRA adapter."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from ragstone.components.generators.llm_base import LlmGenerator
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.registry import locate
from ragstone.errors import ConfigError
from ragstone.models.adapters import Adapter, read_adapter


@dataclass(frozen=True, kw_only=True)
class AdaptedGenerator(LlmGenerator):
    """A model of your own machine, with or without a LoRA adapter.

    Args:
        model: the model; without it the adapter's base, or else the default model.
        adapter: folder of an adapter as PEFT or `ragstone train` writes it (docs/adapters.md). Its
            digest is part of the model's identity.
    """

    model: str = ""
    adapter: str = field(default="", metadata=NOT_IN_CACHE_KEY)

    default_model: ClassVar[str] = "smollm2-135m-instruct"

    def __post_init__(self) -> None:
        """Find the adapter beside the experiment file, and its base if no model is given."""
        super().__post_init__()
        if self.adapter:
            place = str(locate(Path(self.adapter).expanduser()))
            object.__setattr__(self, "adapter", place)
        if not self.model:
            name = self.found_adapter.base if self.found_adapter else self.default_model
            if not name:
                raise ConfigError("a model is missing: give `model` or `adapter`", key="model")
            object.__setattr__(self, "model", name)

    @cached_property
    def found_adapter(self) -> Adapter | None:
        """The adapter; None if there is none."""
        return read_adapter(self.adapter, self.model) if self.adapter else None

    @property
    def training_folder(self) -> Path | None:
        """The folder of the adapter or of the whole model, which may have a record of training."""
        folder = Path(self.adapter or self.model).expanduser()
        return folder if folder.is_dir() else None

    def adapted(self, identity: str, *more: str | None) -> str:
        """Return the identity of a model followed by the adapter's digest and further parts."""
        added = f"adapter:{self.found_adapter.digest}" if self.found_adapter else None
        return self.versioned(" ".join(part for part in (identity, *more, added) if part))
