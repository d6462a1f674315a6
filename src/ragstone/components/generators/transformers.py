"""A language model run by transformers in this process: a causal one, or one of the T5 family."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ragstone.calls.types import Endpoint
from ragstone.components.generators.weights_base import WeightsGenerator
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.models.in_process import TextModel, in_process, load_once
from ragstone.models.locate import find_model
from ragstone.models.seq2seq import Seq2SeqModel, is_seq2seq
from ragstone.models.transformers_lm import HfModel


@dataclass(frozen=True)
class Hf(WeightsGenerator):
    """Answers with any causal language model that transformers can load, or any of the T5 family.

    The number type, the kind of device and batching change the last digits of the arithmetic, and
    sometimes an answer. They are part of the model's identity in cache keys; the size of a batch
    is not. Sampling, prompts and budget: see `LlmGenerator` and `SamplingGenerator`; adapter,
    quantization, max_input_tokens and model_code: see `WeightsGenerator`.

    Args:
        model: bundled model's name, path of a GGUF file or a folder, or name on the hub; without it
            the adapter's base, or else smollm2-135m-instruct.
        hub_revision: commit, tag or branch of the hub.
        dtype: number type of weights and arithmetic; a GGUF file is converted to it.
        device: kind of device; CUDA_VISIBLE_DEVICES selects one of several GPUs.
        batch_size: maximum prompts that are answered together; more than 1 is faster on a GPU.
    """

    model: str = ""
    hub_revision: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    dtype: Literal["float32", "bfloat16", "float16"] = field(
        default="float32", metadata=NOT_IN_CACHE_KEY
    )
    device: Literal["cpu", "cuda", "mps", "xpu"] = field(default="cpu", metadata=NOT_IN_CACHE_KEY)
    batch_size: int = field(default=1, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "hf"
    sizes = ("max_tokens", "batch_size", "max_input_tokens")

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model, identified by the digest of its files."""
        digest = self.weights()
        together = "alone" if self.batch_size == 1 else "batched"
        return Endpoint(
            self.model,
            identity=self.adapted(
                f"hf:{digest}:{self.dtype}:{self.device}:{together}", self.quantization
            ),
            protocol="transformers",
            client=lambda endpoint, pace: in_process(endpoint, pace, self._load, self.batch_size),
            concurrency=2 * self.batch_size,
        )

    def _load(self) -> TextModel:
        path = find_model(self.model, self.hub_revision, self.files_kind)
        kind = Seq2SeqModel if is_seq2seq(path) else HfModel
        return load_once(
            ("hf", str(path.resolve()), self.dtype, self.device, *self.loading),
            lambda: kind(
                path,
                self.model,
                self.device,
                self.dtype,
                adapter=self.found_adapter,
                quantization=self.quantization,
                max_input_tokens=self.max_input_tokens,
                own_code=bool(self.model_code),
            ),
        )
