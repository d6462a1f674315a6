"""What the embedders by sentence-transformers have in common: finding, loading, and what is cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from ragstone.core import limits
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.core.registry import locate
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.files import known_digest
from ragstone.models.locate import SENTENCE_TRANSFORMERS, find_model

if TYPE_CHECKING:
    from ragstone.calls.client import Calls

Dtype: TypeAlias = Literal["float32", "float16", "bfloat16"]

_EXTRA: Final = "st"
_READ: Final = ("*.safetensors", "*.json", "*.model", "*.txt")
"""What decides a model's output, in its folder and in those of its modules."""


@dataclass(frozen=True)
class StModel:
    """A model that sentence-transformers runs, by folder or by name on the hub.

    Weights are safetensors, and no code of the model's own is run.
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
    """As people write the embedder."""

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("batch", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be 1 or more, found {value}")
        _ = self.place

    @cached_property
    def place(self) -> str:
        """The model's name; a folder beside the experiment file is found there."""
        beside = locate(Path(self.model).expanduser())
        return str(beside) if beside.is_dir() else self.model

    @cached_property
    def revision(self) -> str:
        """Digest of the model's files, those of its modules included."""
        folder = self._folder()
        files = sorted({file for pattern in _READ for file in folder.rglob(pattern)})
        return fingerprint({str(f.relative_to(folder)): known_digest(f) for f in files})

    def check(self, calls: Calls) -> None:
        """Raise unless the model is there, and the package that runs it."""
        self._check_package()
        self._folder()

    def load(self, make: Callable[..., Any]) -> Any:
        """Return the model that `make` of sentence-transformers loads."""
        self._check_package()
        folder = self._folder()
        try:
            loaded = make(
                str(folder),
                device=self.device or None,
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": self.dtype},
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ModelFileError(
                f"sentence-transformers cannot load the model {self.model!r} from {folder}: "
                f"{' '.join(str(error).split())[: limits.MAX_CAUSE_CHARACTERS]}"
            ) from error
        if self.max_tokens is not None:
            loaded.max_seq_length = self.max_tokens
        return loaded

    def note_cut(self, loaded: Any, texts: Sequence[str], what: str) -> None:
        """Note how many texts are longer than what the model reads."""
        limit = loaded.max_seq_length
        if limit is None or not texts:
            return
        whole: Mapping[str, Any] = loaded.tokenizer(
            list(texts), truncation=False, padding=False, verbose=False
        )
        cut = sum(len(ids) > limit for ids in whole["input_ids"])
        add_note(f"{what} cut to {limit} tokens", cut)

    def _folder(self) -> Path:
        return find_model(self.place, self.hub_revision, SENTENCE_TRANSFORMERS)

    def _check_package(self) -> None:
        require(f"the embedder {self.name!r}", _EXTRA, "sentence_transformers")
