"""A random model of the T5 family of a few thousand weights, as transformers saves one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def tiny_t5_tokenizer() -> Any:
    """Return a tokenizer of bytes that ends each text with </s>."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: place for place, token in enumerate(["<pad>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", vocabulary["</s>"])]
    )
    named = {"eos_token": "</s>", "pad_token": "<pad>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)


def tiny_t5(folder: Path, *, own_output: bool = False, spare: int = 0) -> Path:
    """Write a model and its tokenizer into a folder, and return the folder.

    Args:
        folder: the folder.
        own_output: whether the rows of the output differ from the embeddings, as in FLAN-T5.
        spare: embeddings without a token, as T5 has.
    """
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    tokenizer = tiny_t5_tokenizer()
    config = T5Config(
        vocab_size=len(tokenizer) + spare,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        dropout_rate=0.0,
        decoder_start_token_id=tokenizer.pad_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        feed_forward_proj="gated-gelu" if own_output else "relu",
        tie_word_embeddings=not own_output,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if own_output:
        weights, settings = folder / "model.safetensors", folder / "config.json"
        tensors = load_file(weights)
        tensors["lm_head.weight"] = torch.randn_like(tensors["shared.weight"])
        save_file(tensors, weights, metadata={"format": "pt"})
        written = json.loads(settings.read_text(encoding="utf-8"))
        settings.write_text(json.dumps({**written, "tie_word_embeddings": False}), "utf-8")
    return folder
