"""MiniLM, the bundled sentence encoder, on ONNX Runtime: no torch, one text at a time."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ragstone.cores import usable_cores
from ragstone.embedders.bert_onnx import Precision, write_bert
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.fingerprint import fingerprint
from ragstone.model_table import Role
from ragstone.models import model_digest, model_file
from ragstone.protocols import NOT_IN_KEY

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.calls import Calls

_PACKAGES: Final = ("onnxruntime", "onnx", "tokenizers", "safetensors")
_ROLES: Final[tuple[Role, ...]] = ("weights", "tokenizer", "config")
_SHORTEST: Final = 3
"""Tokens of the shortest text that says something: one, between the two that every text gets."""


def check_runnable(model: str) -> None:
    """Raise `MissingDependency` or `ModelFileError` where an encoder cannot be loaded."""
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingDependency("the embedder 'minilm'", package, "local")
    for role in _ROLES:
        model_file(model, role)


@dataclass(frozen=True)
class MiniLM:
    """all-MiniLM-L6-v2: the mean of the token vectors, brought to length 1 (384 dimensions).

    A text is computed alone, never in a batch: in 8 bit the scale of what flows through the network
    is taken from all that is computed together, and a vector would depend on its neighbours.

    Args:
        model: the bundled model, or a folder with a BERT encoder of the same form.
        precision: `int8` is about three times as fast as `float32`, at a cosine of 0.99 to it.
        max_tokens: a longer text is cut here. The model was trained on 256 and knows 512 places.
        query_prefix: put before each query.
        passage_prefix: put before each passage.
        threads: texts computed at a time; as many as there are cores by default.
    """

    model: str = "all-minilm-l6-v2"
    precision: Precision = "int8"
    max_tokens: int = 512
    query_prefix: str = ""
    passage_prefix: str = ""
    threads: int | None = field(default=None, metadata=NOT_IN_KEY)
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.max_tokens < _SHORTEST:
            raise ConfigError(f"max_tokens must be {_SHORTEST} or more, found {self.max_tokens}")
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"threads must be 1 or more, found {self.threads}")

    @cached_property
    def revision(self) -> str:
        """Digest of the model's files."""
        return fingerprint([model_digest(self.model, role) for role in _ROLES])

    def check(self, calls: Calls) -> None:
        """Raise unless the model's files are there and right, and the packages that run it."""
        check_runnable(self.model)

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        return self._embed([self.query_prefix + text for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        return self._embed([self.passage_prefix + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._encoder.dimension), dtype=np.float32)
        with ThreadPoolExecutor(self.threads or usable_cores()) as pool:
            return np.stack(list(pool.map(self._encoder.encode, texts)))

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder.load(self.model, self.precision, self.max_tokens)


@dataclass(frozen=True)
class Encoder:
    """A loaded BERT encoder."""

    tokenizer: Any
    session: Any
    dimension: int

    @classmethod
    def load(cls, model: str, precision: Precision, max_tokens: int) -> Encoder:
        """Read a model's files and make it ready to run."""
        check_runnable(model)
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
            graph = write_bert(
                load_file(model_file(model)),
                heads=config["num_attention_heads"],
                epsilon=config["layer_norm_eps"],
                precision=precision,
            )
        except KeyError as error:
            raise ModelFileError(
                f"the model {model!r} is not a BERT encoder: its weights have no {error}"
            ) from error
        return cls(tokenizer, _session(graph), config["hidden_size"])

    def encode(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of one text, of shape (dimension,). Safe to call from many threads."""
        ids = np.array(self.tokenizer.encode(text).ids, dtype=np.int64)
        (mean,) = self.session.run(["mean"], {"ids": ids})
        vector: npt.NDArray[np.float32] = mean
        return vector


def _session(graph: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Texts run side by side, each on one thread; threads that wait must leave the core to others.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
