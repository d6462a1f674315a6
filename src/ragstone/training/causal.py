"""A causal language model that learns targets after prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.training.examples import IGNORED, Example, packed, padded
from ragstone.training.recipe import Recipe


@dataclass(frozen=True)
class CausalLearner:
    """The sum of the cross-entropies of the target tokens, given all tokens before them.

    Args:
        model: a causal language model of transformers, with or without an adapter.
        padding: the token that fills short rows.
        recipe: device, number type and packing.
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

        packing = self.recipe.optim.packing
        batch = packed(examples) if packing else padded(examples, self.padding)
        device, half = self.recipe.device, self.recipe.optim.dtype == "bfloat16"
        wanted = batch.pop("labels")[:, 1:]
        # The scores of a whole vocabulary are computed only where a row has a target.
        kept = (wanted != IGNORED).any(0).nonzero().flatten()
        inputs = {name: tensor.to(device) for name, tensor in batch.items()}
        with torch.autocast(device, dtype=torch.bfloat16, enabled=half):
            scores = self.model(**inputs, use_cache=False, logits_to_keep=kept.to(device)).logits
        return torch.nn.functional.cross_entropy(
            scores.float().flatten(0, 1),
            wanted[:, kept].flatten().to(device),
            reduction="sum",
            ignore_index=IGNORED,
        )
