"""A tiny multilingual encoder with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁gold", "▁Brücke", "▁河", "桥", "▁نهر", "g", "o"]


def save_xlmr(
    folder: Path, kind: str = "XLMRobertaModel", *, seed: int = 3, size: int = 16, **config: Any
) -> Path:
    """Save an XLM-RoBERTa with random weights, two layers."""
    import torch
    import transformers

    torch.manual_seed(seed)
    made = transformers.XLMRobertaConfig(
        vocab_size=len(PIECES) + 1,
        hidden_size=size,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=34,
        type_vocab_size=1,
        initializer_range=0.5,
        **config,
    )
    getattr(transformers, kind)(made).save_pretrained(folder)
    vocabulary = [(piece, -float(n)) for n, piece in enumerate([*PIECES, "<mask>"])]
    transformers.XLMRobertaTokenizerFast(vocab=vocabulary, model_max_length=32).save_pretrained(
        folder
    )
    return folder
