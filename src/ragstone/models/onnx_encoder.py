"""BERT encoders on ONNX Runtime: a tokenizer and a graph, one text at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.core.resources import available_cpus
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.bundled import Role
from ragstone.models.files import model_digest, model_file

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]

_PACKAGES: Final = ("onnxruntime", "onnx", "tokenizers", "safetensors")
_ROLES: Final[tuple[Role, ...]] = ("weights", "tokenizer", "config")
_SHORTEST: Final = 3
"""Minimum `max_tokens`: one token between the two marks of every text."""

GraphOf: TypeAlias = "Callable[[Mapping[str, Matrix], Mapping[str, Any]], bytes]"
"""Returns a serialised graph of a model's weights and configuration."""


def check_runnable(model: str, embedder: str) -> None:
    """Raise `MissingDependency` or `ModelFileError` if a model cannot be loaded."""
    require(f"the embedder {embedder!r}", "local", *_PACKAGES)
    for role in _ROLES:
        model_file(model, role)


def check_ranges(max_tokens: int, threads: int | None) -> None:
    """Raise `ConfigError` for a length or a number of threads out of range."""
    if max_tokens < _SHORTEST:
        raise ConfigError(f"max_tokens must be {_SHORTEST} or more, found {max_tokens}")
    if threads is not None and threads < 1:
        raise ConfigError(f"threads must be 1 or more, found {threads}")


def digest_of(model: str) -> str:
    """Return the digest of a model's files."""
    return fingerprint([model_digest(model, role) for role in _ROLES])


@dataclass(frozen=True)
class Encoder:
    """A loaded model. Safe to use from many threads."""

    tokenizer: Any
    session: Any
    config: Mapping[str, Any]

    @classmethod
    def load(cls, model: str, max_tokens: int, graph_of: GraphOf, embedder: str) -> Encoder:
        """Return a model loaded from its files; it cuts longer texts to `max_tokens`."""
        check_runnable(model, embedder)
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        config = json.loads(model_file(model, "config").read_bytes())
        places = config["max_position_embeddings"]
        if max_tokens > places:
            raise ConfigError(
                f"max_tokens is {max_tokens}, but the model {model!r} reads {places} at most"
            )
        tokenizer = Tokenizer.from_file(str(model_file(model, "tokenizer")))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
        try:
            graph = graph_of(load_file(model_file(model)), config)
        except KeyError as error:
            raise ModelFileError(
                f"the model {model!r} is not one that {embedder!r} can run: its weights have no "
                f"{error}"
            ) from error
        return cls(tokenizer, make_session(graph), config)

    def run(self, text: str, output: str) -> Matrix:
        """Return one of the graph's outputs for one text."""
        return self._run(text, output)[0]

    def run_all(
        self, texts: Sequence[str], output: str, threads: int | None, what: str = "texts"
    ) -> list[Matrix]:
        """Return one of the graph's outputs for each text, `threads` texts at a time.

        A note counts the texts that were cut, with the noun `what`.
        """
        with ThreadPoolExecutor(threads or available_cpus()) as pool:
            found = list(pool.map(lambda text: self._run(text, output), texts))
        limit = self.tokenizer.truncation["max_length"]
        add_note(f"{what} cut to {limit} tokens", sum(cut for _, cut in found))
        return [computed for computed, _ in found]

    def _run(self, text: str, output: str) -> tuple[Matrix, bool]:
        """Return an output for one text, and whether the text was cut."""
        encoded = self.tokenizer.encode(text)
        (found,) = self.session.run([output], {"ids": np.array(encoded.ids, dtype=np.int64)})
        return found, bool(encoded.overflowing)


def make_session(graph: bytes | str) -> Any:
    """Return a session of a serialised graph or of a file; each run of it is on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Texts run in parallel, each on one thread; a waiting thread must free its core.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
