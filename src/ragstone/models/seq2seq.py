"""A sequence-to-sequence model of the T5 family, run by transformers: an encoder and a decoder.

It has no chat template: it reads the texts of the messages, with an empty line between them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone.calls.types import Request
from ragstone.core.screen_text import cause_of
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.adapters import Adapter
from ragstone.models.causal_lm import Quantization, add_adapter, failures, plain_text
from ragstone.models.locate import FROM_FILES, TRANSFORMERS_LM
from ragstone.models.quiet import quiet
from ragstone.models.transformers_lm import HfModel


def is_seq2seq(path: Path) -> bool:
    """Return whether the configuration of a model's folder is that of an encoder and a decoder."""
    try:
        found = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False  # A GGUF file; or loading says what is wrong.
    return bool(isinstance(found, dict) and found.get("is_encoder_decoder"))


def load_seq2seq(
    path: Path, name: str, device: str, dtype: str, adapter: Adapter | None = None
) -> tuple[Any, Any]:
    """Return the tokenizer and the model of a folder, which an adapter can be added to.

    Args:
        path: a folder as transformers saves it.
        name: the model's name in errors.
        device: the kind of device that the model is moved to.
        dtype: number type of the weights.
        adapter: the adapter that is to be added: the tokenizer is that of its folder if there is
            one, and the model gets rows for its tokens.

    Raises:
        MissingDependency: a package is not installed.
        ModelFileError: transformers cannot load the model.
    """
    TRANSFORMERS_LM.require()
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    own = adapter and (adapter.folder / "tokenizer_config.json").is_file()
    given: dict[str, Any] = dict(FROM_FILES)
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(
                adapter.folder if adapter and own else path, **given
            )
            given["dtype"] = getattr(torch, dtype)
            model = AutoModelForSeq2SeqLM.from_pretrained(path, **given).to(device)
            give_rows(model, len(tokenizer))
    except failures() as error:
        raise ModelFileError(
            f"transformers cannot load the model {name!r} from {path} on {device!r}: "
            f"{cause_of(error)}"
        ) from error
    return tokenizer, model


def give_rows(model: Any, tokens: int) -> None:
    """Let a model have an embedding for each token; output rows that differ stay apart.

    transformers reads the configuration of FLAN-T5 as if its output rows were its embeddings, and
    would replace them.
    """
    tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    model.config.tie_word_embeddings = tied
    if tokens > len(model.get_input_embeddings().weight):
        model.resize_token_embeddings(tokens, mean_resizing=False)


class Seq2SeqModel(HfModel):
    """A tokenizer, an encoder and a decoder in memory; the reply is what the decoder writes."""

    def _load(
        self, path: Path, adapter: Adapter | None, quantization: Quantization | None
    ) -> tuple[Any, Any]:
        if quantization:
            raise ConfigError(
                f"the model {self.name!r} has an encoder and a decoder, which is not quantised: "
                "remove `quantization`",
                key="quantization",
            )
        tokenizer, model = load_seq2seq(path, self.name, self.device, self.dtype, adapter)
        return tokenizer, add_adapter(model, adapter).get_base_model() if adapter else model

    def _rendered(self, request: Request) -> tuple[str, list[int]]:
        text = plain_text(request.messages)
        return text, list(self.tokenizer(text)["input_ids"])

    def _room(self, prompt_tokens: int) -> int:
        """Return the room of a reply: the decoder has its own, whatever the prompt's length."""
        return self.context_tokens if prompt_tokens <= self.context_tokens else 0

    @property
    def _generation(self) -> Mapping[str, Any]:
        config = self.model.config
        return {
            "decoder_start_token_id": config.decoder_start_token_id,
            "pad_token_id": config.pad_token_id,
        }
