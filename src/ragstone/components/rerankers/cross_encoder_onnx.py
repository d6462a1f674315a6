"""Cross-encoders as ONNX graphs: no torch, one pair at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from ragstone.components.rerankers.query_passage_pairs import Pair, PairReranker, one_score
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import track
from ragstone.core.registry import locate
from ragstone.core.resources import available_cpus
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.files import known_digest
from ragstone.models.reading import reading_notes
from ragstone.protocols import Services

_PACKAGES: Final = ("onnxruntime", "tokenizers")
_GRAPHS: Final = ("model.onnx", "onnx/model.onnx")
_INPUTS: Final = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
}
"""Input of a graph -> the attribute of the tokenizer's encoding."""


@dataclass(frozen=True)
class CrossEncoderOnnx(PairReranker):
    """Orders passages by the scores of a model that reads the query and the passage together.

    A pair is computed alone, never in a batch, so that its score depends on no other pair.

    Args:
        model: a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.
        top_k: maximum length of a ranking.
        depth: number of passages of a ranking that are reranked.
        max_tokens: a longer pair is cut here, the longer of its texts first, and counted.
        threads: pairs computed at a time; by default the number of cores.
    """

    model: str
    top_k: int = 10
    depth: int = 100
    max_tokens: int = 512
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "local"
    sizes = ("top_k", "max_tokens", "threads")

    def __post_init__(self) -> None:
        """Check the ranges."""
        super().__post_init__()
        _ = self._folder

    @cached_property
    def content_revision(self) -> str:
        """The digest of the model's files; a large graph has its weights in files beside it."""
        graph, written = self._files
        beside = sorted(p for p in graph.parent.glob(f"{graph.name}?*") if p.is_file())
        return fingerprint([known_digest(path) for path in (graph, written, *beside)])

    def check(self, services: Services) -> None:
        """Raise if a file of the model, or a package that runs it, is missing."""
        require("the reranker 'cross-encoder-onnx'", self.requires_extra, *_PACKAGES)
        _ = self._files

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return a note if the encoder cannot read the queries or the passages."""
        return reading_notes(self.model, self._files[1], dataset)

    def score(self, pairs: Sequence[Pair]) -> tuple[list[float], int]:
        """Return one score per (query, passage), in order, and the number of cut pairs."""
        _ = self._loaded
        with ThreadPoolExecutor(self.threads or available_cpus()) as pool:
            done = pool.map(self._score, pairs)
            found = list(track(done, "Reranking pairs", len(pairs)))
        return [score for score, _ in found], sum(cut for _, cut in found)

    def _score(self, pair: Pair) -> tuple[float, bool]:
        tokenizer, session = self._loaded
        encoded = tokenizer.encode(*pair)
        feed = {
            given.name: np.array(
                [getattr(encoded, _INPUTS[given.name])],
                dtype=np.int32 if "int32" in given.type else np.int64,
            )
            for given in session.get_inputs()
        }
        logits = session.run(None, feed)[0]
        return float(one_score(logits, self.model)[0]), bool(encoded.overflowing)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The tokenizer and the session."""
        import onnxruntime
        from tokenizers import Tokenizer

        graph, written = self._files
        tokenizer = Tokenizer.from_file(str(written))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)
        options = onnxruntime.SessionOptions()
        # Pairs run in parallel, each on one thread.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(
                str(graph), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's own errors share no public class
            raise ModelFileError(f"cannot load {graph}: {error}") from error
        unknown = {given.name for given in session.get_inputs()} - set(_INPUTS)
        if unknown:
            raise ConfigError(
                f"the graph {graph} has the input {min(unknown)!r}; expected input_ids, "
                "attention_mask and token_type_ids, or some of them"
            )
        return tokenizer, session

    @cached_property
    def _folder(self) -> Path:
        return locate(Path(self.model).expanduser())

    @cached_property
    def _files(self) -> tuple[Path, Path]:
        """The graph and the tokenizer."""
        graph = next((self._folder / n for n in _GRAPHS if (self._folder / n).is_file()), None)
        if graph is None or not (self._folder / "tokenizer.json").is_file():
            missing = "tokenizer.json" if graph else "model.onnx"
            raise ModelFileError(
                f"the cross-encoder {str(self._folder)!r} has no {missing}; give a folder with "
                "model.onnx and tokenizer.json, as `optimum-cli export onnx` writes it"
            )
        return graph, self._folder / "tokenizer.json"
