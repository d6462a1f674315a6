"""The bases of a trained judge: an encoder with a linear layer, or a causal model with a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ragstone.components.judges.trained import input_texts
from ragstone.errors import ConfigError
from ragstone.models.text_classifier import (
    ClassifierFacts,
    all_pooled,
    encode,
    load_classifier_folder,
    load_encoder,
    new_net,
    pooled,
    save_classifier,
)
from ragstone.training.classifier import Base, ItemToLearn
from ragstone.training.judge_recipe import JudgeRecipe
from ragstone.training.weights import with_adapter

if TYPE_CHECKING:
    from ragstone.models.text_classifier import Scores


LabelExample: TypeAlias = tuple[Any, int]
"""Tokens (`Encoded`) or the pooled state of an input, and the place of its label."""


def base_of(recipe: JudgeRecipe, facts: ClassifierFacts) -> Base:
    """Return the loaded base of a recipe.

    Raises:
        ModelFileError: the base cannot be loaded.
        ConfigError: the base does not fit the keys of the recipe.
    """
    if recipe.judge:
        from ragstone.training.causal_judge import CausalBase

        return CausalBase.of(recipe, facts)
    return EncoderBase.of(recipe, facts)


@dataclass(frozen=True)
class LabelLearner:
    """The sum of the cross-entropies of the labels.

    An input is tokens, or the state of a frozen encoder, which is computed once.
    """

    model: Any
    padding: int
    recipe: JudgeRecipe

    def targets(self, examples: Sequence[LabelExample]) -> int:
        """Return the number of labels."""
        return len(examples)

    def loss(self, examples: Sequence[LabelExample]) -> Any:
        """Return the sum of the losses of the labels."""
        import torch

        inputs, labels = zip(*examples, strict=True)
        recipe = self.recipe
        half = recipe.optim.dtype == "bfloat16"
        with torch.autocast(recipe.device, dtype=torch.bfloat16, enabled=half):
            if recipe.head_only:
                states = torch.stack(inputs).to(recipe.device)
            else:
                states = pooled(self.model["encoder"], inputs, self.padding, recipe.pooling)
            scores = self.model["head"](states)
        wanted = torch.tensor(labels, device=scores.device)
        return torch.nn.functional.cross_entropy(scores.float(), wanted, reduction="sum")


@dataclass(frozen=True)
class EncoderBase:
    """An encoder with a linear layer for the labels."""

    recipe: JudgeRecipe
    facts: ClassifierFacts
    tokenizer: Any
    encoder: Any

    @classmethod
    def of(cls, recipe: JudgeRecipe, facts: ClassifierFacts) -> EncoderBase:
        """Return the loaded base; raise `ConfigError` if inputs are longer than it can read."""
        tokenizer, encoder = load_encoder(recipe.base, recipe.device)
        places = getattr(encoder.config, "max_position_embeddings", recipe.max_tokens)
        if recipe.max_tokens > places:
            raise ConfigError(
                f"max_tokens is {recipe.max_tokens}, but {recipe.base!r} reads {places} tokens; "
                f"write max_tokens: {places} or less",
                key="max_tokens",
                value=recipe.max_tokens,
            )
        return cls(recipe, facts, tokenizer, encoder)

    def examples(self, items: Sequence[ItemToLearn], notes: list[str]) -> list[LabelExample]:
        """Return the input and the label of each item; cut inputs are noted."""
        most, names = self.recipe.max_tokens, self.facts.inputs
        inputs = [encode(self.tokenizer, input_texts(one.item, names), most) for one in items]
        if cut := sum(one.is_cut for one in inputs):
            notes.append(f"{cut} of {len(inputs)} inputs were cut to {most} tokens")
        labels = [self.facts.labels.index(one.label) for one in items]
        if not self.recipe.head_only:
            return list(zip(inputs, labels, strict=True))
        states = all_pooled(self.encoder, inputs, self._padding, self.recipe.pooling)
        return list(zip(states, labels, strict=True))

    @property
    def _padding(self) -> int:
        return self.tokenizer.pad_token_id or 0

    def learner(self) -> LabelLearner:
        """Return the encoder with a new linear layer."""
        encoder = self.encoder
        if self.recipe.head_only:
            encoder.requires_grad_(False)
        else:
            encoder = with_adapter(encoder, self.recipe, "FEATURE_EXTRACTION")
        net = new_net(encoder, len(self.facts.labels), self.recipe.device)
        return LabelLearner(net, self._padding, self.recipe)

    def save(self, learner: LabelLearner, folder: Path, facts: ClassifierFacts) -> None:
        """Write the linear layer and the encoder, with an adapter merged into it."""
        net = learner.model
        if hasattr(net["encoder"], "peft_config"):
            net["encoder"] = net["encoder"].merge_and_unload()
        save_classifier(folder, facts, self.tokenizer, net)

    def scores(self, folder: Path | None, items: Sequence[ItemToLearn]) -> Scores:
        """Return the scores by the classifier of a folder; an untrained one has equal scores."""
        import numpy as np

        if folder is None:
            return np.zeros((len(items), len(self.facts.labels)))
        classifier = load_classifier_folder(folder, self.recipe.device)
        return classifier.scores([input_texts(one.item, self.facts.inputs) for one in items])
