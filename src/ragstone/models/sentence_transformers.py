"""Encoders by sentence-transformers: finding them, loading them, and counting cut texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, TypeAlias

from ragstone.core.component import NOT_IN_CACHE_KEY, Component
from ragstone.core.environment import require
from ragstone.core.registry import locate
from ragstone.core.screen_text import cause_of
from ragstone.core.step_notes import ROLES, add_note
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.locate import (
    FROM_FILES,
    SENTENCE_TRANSFORMERS,
    WITH_CODE,
    ModelKind,
    files_digest,
    find_model,
)
from ragstone.models.own_code import CODE_FILES, pin_code
from ragstone.models.reading import reading_notes

Dtype: TypeAlias = Literal["float32", "float16", "bfloat16"]

_READ: Final = ("**/*.safetensors", "**/*.json", "**/*.model", "**/*.txt")
"""Files that a model's output depends on, in its folder and in those of its modules."""


@dataclass(frozen=True)
class StModel(Component):
    """A model that sentence-transformers runs, from a folder or by its name on the hub.

    Weights are safetensors. Code of the model's repository is not run, unless a subclass has the
    field `model_code` and it names the commit.
    """

    model: str
    max_tokens: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    dtype: Dtype = "float32"
    hub_revision: str = ""
    batch: int = field(default=32, metadata=NOT_IN_CACHE_KEY)
    device: str = field(default="", metadata=NOT_IN_CACHE_KEY)

    name: ClassVar[str]
    """The embedder's name in a spec."""
    kind: ClassVar[ModelKind] = SENTENCE_TRANSFORMERS
    read: ClassVar[tuple[str, ...]] = _READ
    """Patterns of the files that the key has."""
    requires_extra = "st"
    needs_model = True

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("batch", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be 1 or more, found {value}")
        _ = self.place
        if self.code:
            pin_code(self, self.place)

    @property
    def code(self) -> str:
        """The commit whose code may run; "" if none may."""
        return str(getattr(self, "model_code", ""))

    @cached_property
    def place(self) -> str:
        """The model's folder, looked for beside the experiment file first, or its name."""
        beside = locate(Path(self.model).expanduser())
        return str(beside) if beside.is_dir() else self.model

    @cached_property
    def content_revision(self) -> str | list[str]:
        """The digest of the model's files, those of its modules included."""
        return self.digest()

    def digest(self) -> str:
        """Return the digest of the model's files, those of its modules included."""
        code = CODE_FILES if self.code else ()
        return files_digest(self._folder(), *self.read, *code)

    def check(self, services: Any) -> None:
        """Raise if the model, or the package that runs it, is missing."""
        self._check_package()
        if _architecture(self._folder()) == "dpr":
            raise ModelFileError(
                f"the model {self.model!r} has the weights of transformers' classes for DPR, which "
                "sentence-transformers does not run; use the same encoder in its form, such as "
                "sentence-transformers/facebook-dpr-question_encoder-single-nq-base"
            )

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return a note if the encoder cannot read the queries or the passages."""
        tokenizer = self._folder() / "tokenizer.json"
        return reading_notes(self.model, tokenizer, dataset) if tokenizer.is_file() else ()

    def load(self, make: Callable[..., Any]) -> Any:
        """Return the model that a class of sentence-transformers loads.

        Raises:
            ModelFileError: the package cannot load the model.
        """
        self._check_package()
        folder = self._folder()
        try:
            loaded = make(
                str(folder),
                device=self.device or None,
                **(WITH_CODE if self.code else FROM_FILES),
                model_kwargs={"use_safetensors": True, "dtype": self.dtype},
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ModelFileError(
                f"sentence-transformers cannot load the model {self.model!r} from {folder}: "
                f"{cause_of(error)}"
            ) from error
        if self.max_tokens is not None:
            loaded.max_seq_length = self.max_tokens
        return loaded

    def prefixed(self, texts: Sequence[str], role: str, loaded: Any) -> list[str]:
        """Return texts with the prefix of their role; a note counts those that will be cut."""
        prefix = self.query_prefix if role == "query" else self.passage_prefix
        found = [prefix + text for text in texts]
        limit = loaded.max_seq_length
        if limit is not None and found:
            whole: Mapping[str, Any] = loaded.tokenizer(
                found, truncation=False, padding=False, verbose=False
            )
            cut = sum(len(ids) > limit for ids in whole["input_ids"])
            add_note(f"{ROLES[role]} cut to {limit} tokens", cut)
        return found

    def _folder(self) -> Path:
        return find_model(self.place, self.hub_revision, self.kind.with_code(self.code))

    def _check_package(self) -> None:
        require(f"the embedder {self.name!r}", self.requires_extra, *self.kind.packages)


def _architecture(folder: Path) -> str:
    """Return the type of a model; "" if its configuration does not name one."""
    try:
        return str(json.loads((folder / "config.json").read_bytes())["model_type"])
    except (ValueError, LookupError, TypeError):
        return ""
