"""A BERT with random weights, small enough to train in a test."""

from __future__ import annotations

from pathlib import Path

WORDS = ("rain", "snow", "wind", "sun", "fog", "ice", "hail", "heat", "dew", "mist")


def tiny_encoder(folder: Path) -> Path:
    """Write a random BERT of two layers of 16, and its tokenizer, into a folder."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    numbers = [str(n) for n in range(200)]
    (folder / "vocab.txt").write_text("\n".join([*marks, *WORDS, "good", "bad", *numbers]))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(marks) + len(WORDS) + 2 + len(numbers),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder
