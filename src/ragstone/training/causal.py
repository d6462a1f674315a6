"""A causal language model that learns targets after prompts."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.errors import ConfigError
from ragstone.training.examples import IGNORED, Example, packed, padded
from ragstone.training.recipe import Recipe

_SEEN: Final = Example((5, 6, 7), (8, 9)), Example((9, 8, 7), (8, 9))
_LAST: Final = Example((6, 5), (7, 8))
_EQUAL: Final = 1e-6


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

    @classmethod
    def of(cls, model: Any, tokenizer: Any, recipe: Recipe) -> CausalLearner:
        """Return the learner of a model and its tokenizer.

        Raises:
            ConfigError: examples are packed, but the model does not tell them apart.
        """
        padding = tokenizer.pad_token_id
        padding = tokenizer.eos_token_id if padding is None else padding
        made = cls(model, padding, recipe)
        if recipe.optim.packing and not made.tells_apart():
            raise ConfigError(
                f"in a packed row the base {recipe.base!r} sees other examples: its architecture "
                "does not begin again with each one; remove optim.packing",
                key="optim.packing",
                value=True,
            )
        return made

    def tells_apart(self) -> bool:
        """Return whether the loss of an example in a packed row depends on it alone."""
        import torch

        was_training = self.model.training
        self.model.eval()
        with torch.no_grad():
            # The examples before it have equal targets' places, and other tokens.
            rows = [packed([first, _LAST]) for first in _SEEN]
            for row in rows:
                row["labels"][:, : len(_SEEN[0])] = IGNORED
            one, other = (float(self._loss_of(row)) for row in rows)
        self.model.train(was_training)
        return math.isclose(one, other, rel_tol=_EQUAL)

    def targets(self, examples: Sequence[Example]) -> int:
        """Return the number of target tokens."""
        return sum(len(one.target) for one in examples)

    def loss(self, examples: Sequence[Example]) -> Any:
        """Return the sum of the losses of the target tokens."""
        packing = self.recipe.optim.packing
        return self._loss_of(packed(examples) if packing else padded(examples, self.padding))

    def _loss_of(self, batch: dict[str, Any]) -> Any:
        import torch

        device, half = self.recipe.device, self.recipe.optim.dtype == "bfloat16"
        wanted = batch.pop("labels")[:, 1:]
        # The scores of a whole vocabulary are computed only where a row has a target.
        kept = (wanted != IGNORED).any(0).nonzero().flatten()
        inputs = {name: tensor.to(device) for name, tensor in batch.items()}
        with torch.autocast(device, dtype=torch.bfloat16, enabled=half):
            scores = scores_at(self.model, inputs, kept.to(device))
        return torch.nn.functional.cross_entropy(
            scores.float().flatten(0, 1),
            wanted[:, kept].flatten().to(device),
            reduction="sum",
            ignore_index=IGNORED,
        )


def scores_at(model: Any, inputs: Mapping[str, Any], places: Any) -> Any:
    """Return the scores of the next token at some places of each row.

    Most models of transformers compute those of the other places only if they are asked for.
    """
    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    if "logits_to_keep" in inspect.signature(inner.forward).parameters:
        return model(**inputs, use_cache=False, logits_to_keep=places).logits
    return model(**inputs, use_cache=False).logits[:, places]
