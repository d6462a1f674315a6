"""A model as its authors or `optimum-cli export onnx` write it: a folder with a graph in ONNX.

One text, or one pair of texts, is computed at a time, so that a result depends on no other text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.core.registry import locate
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.files import known_digest
from ragstone.models.onnx_encoder import make_session

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]

_PACKAGES: Final = ("onnxruntime", "tokenizers")
_GRAPHS: Final = ("model.onnx", "onnx/model.onnx")
_INPUTS: Final = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
}
"""Input of a graph -> the attribute of the tokenizer's encoding."""


@dataclass(frozen=True)
class OnnxFolder:
    """A folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.

    Safe to use from many threads after `load`.
    """

    folder: Path
    max_tokens: int
    """A longer text is cut here; of a pair, the longer text first."""
    what: str
    """The noun of the model in errors."""

    @classmethod
    def beside(cls, model: str, max_tokens: int, what: str) -> OnnxFolder:
        """Return the folder of a component, looked for beside the experiment file first."""
        return cls(locate(Path(model).expanduser()), max_tokens, what)

    @cached_property
    def files(self) -> tuple[Path, Path]:
        """The graph and the tokenizer; raise `ModelFileError` if one is missing."""
        graph = next((self.folder / n for n in _GRAPHS if (self.folder / n).is_file()), None)
        if graph is None or not (self.folder / "tokenizer.json").is_file():
            missing = "tokenizer.json" if graph else "model.onnx"
            raise ModelFileError(
                f"the {self.what} {str(self.folder)!r} has no {missing}; give a folder with "
                "model.onnx and tokenizer.json, as `optimum-cli export onnx` writes it"
            )
        return graph, self.folder / "tokenizer.json"

    @cached_property
    def digest(self) -> str:
        """The digest of the files; a large graph has its weights in files beside it."""
        graph, written = self.files
        beside = sorted(p for p in graph.parent.glob(f"{graph.name}?*") if p.is_file())
        return fingerprint([known_digest(path) for path in (graph, written, *beside)])

    def check(self, purpose: str) -> None:
        """Raise if a file, or a package that runs it, is missing."""
        require(purpose, "local", *_PACKAGES)
        _ = self.files

    def run(self, *texts: str, output: str = "") -> tuple[Matrix, bool]:
        """Return an output for a text or a pair, and whether it was cut; by default the first."""
        encoded = self.tokenizer.encode(*texts)
        feed = {
            given.name: np.array(
                [getattr(encoded, _INPUTS[given.name])],
                dtype=np.int32 if "int32" in given.type else np.int64,
            )
            for given in self.session.get_inputs()
        }
        found = self.session.run([output] if output else None, feed)[0]
        return found, bool(encoded.overflowing)

    @cached_property
    def outputs(self) -> Mapping[str, int]:
        """Name of an output -> its number of axes, in the order of the graph."""
        return {found.name: len(found.shape) for found in self.session.get_outputs()}

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer, which cuts and does not pad."""
        from tokenizers import Tokenizer

        path = str(self.files[1])
        try:
            tokenizer = Tokenizer.from_file(path)
        except Exception as error:  # tokenizers raises nothing more special
            raise ModelFileError(f"cannot load {path}: {error}") from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)
        return tokenizer

    @cached_property
    def session(self) -> Any:
        """The loaded graph; raise `ConfigError` if it has an unknown input."""
        graph = self.files[0]
        try:
            session = make_session(str(graph))
        except Exception as error:  # onnxruntime's own errors share no public class
            raise ModelFileError(f"cannot load {graph}: {error}") from error
        unknown = {given.name for given in session.get_inputs()} - set(_INPUTS)
        if unknown:
            raise ConfigError(
                f"the graph {graph} has the input {min(unknown)!r}; expected input_ids, "
                "attention_mask and token_type_ids, or some of them"
            )
        return session

    def load(self) -> None:
        """Load the model."""
        _ = self.tokenizer, self.session
