"""A sequence-to-sequence model that learns targets from prompts, with or without a new token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.models.seq2seq import give_rows
from ragstone.training.examples import IGNORED, Example
from ragstone.training.recipe import Recipe


@dataclass(frozen=True)
class Seq2SeqLearner:
    """The sum of the cross-entropies of the target tokens, given the prompt and those before them.

    Args:
        model: a model of transformers with an encoder and a decoder, with or without an adapter.
        padding: the token that fills short rows.
        recipe: device and number type.
    """

    model: Any
    padding: int
    recipe: Recipe

    def targets(self, examples: Sequence[Example]) -> int:
        """Return the number of target tokens."""
        return sum(len(one.target) for one in examples)

    def loss(self, examples: Sequence[Example]) -> Any:
        """Return the sum of the losses of the target tokens."""
        import torch

        device, half = self.recipe.device, self.recipe.optim.dtype == "bfloat16"
        labels = _rows([one.target for one in examples], IGNORED).to(device)
        ids = _rows([one.prompt for one in examples], self.padding).to(device)
        mask = _rows([(1,) * len(one.prompt) for one in examples], 0).to(device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=half):
            scores = self.model(
                input_ids=ids, attention_mask=mask, labels=labels, use_cache=False
            ).logits
        return torch.nn.functional.cross_entropy(
            scores.float().flatten(0, 1), labels.flatten(), reduction="sum", ignore_index=IGNORED
        )


def _rows(rows: Sequence[Sequence[int]], filling: int) -> Any:
    """Return a tensor of shape (rows, longest), filled on the right."""
    import torch

    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filling] * (longest - len(row))] for row in rows])


def seq2seq_example(tokenizer: Any, prompt: str, target: str) -> Example:
    """Return the example of two texts, each with the end token."""
    return Example(
        tuple(tokenizer(prompt)["input_ids"]), tuple(tokenizer(text_target=target)["input_ids"])
    )


def add_token(model: Any, tokenizer: Any, text: str) -> Mapping[str, list[int]]:
    """Add a token that a text keeps, and return the rows to train beside an adapter.

    Its rows begin as the mean of all tokens' rows. The rows that the model reads and writes are the
    same in T5, and two matrices in FLAN-T5.

    Returns:
        Layer -> rows, as peft's `trainable_token_indices` names them.
    """
    import torch

    tokenizer.add_tokens([text])
    [place] = tokenizer.encode(text, add_special_tokens=False)
    give_rows(model, len(tokenizer))
    with torch.no_grad():
        for layer in (model.get_input_embeddings(), model.get_output_embeddings()):
            layer.weight[place] = layer.weight[:place].mean(0)
    if model.config.tie_word_embeddings:
        return {"shared": [place]}
    return {"decoder.embed_tokens": [place], "lm_head": [place]}
