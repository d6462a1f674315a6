"""A causal language model that learns the verdicts of a judge, after the judge's own prompt.

The trained judge is the same judge with an adapter: prompt and words do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.components.judges.llm_base import ModelJudge
from ragstone.components.judges.verdict import Item
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.models.causal_lm import load_causal_lm
from ragstone.models.locate import find_model
from ragstone.models.quiet import quiet
from ragstone.models.text_classifier import ClassifierFacts, write_facts
from ragstone.training.causal import CausalLearner, scores_at
from ragstone.training.classifier import ItemToLearn
from ragstone.training.examples import IGNORED, Example, chat_example, padded
from ragstone.training.judge_recipe import JudgeRecipe
from ragstone.training.weights import save_weights, with_adapter
from ragstone.types import ChatMessage

if TYPE_CHECKING:
    from ragstone.models.text_classifier import Scores


@dataclass(frozen=True)
class CausalBase:
    """A causal language model and the judge whose prompt it answers."""

    recipe: JudgeRecipe
    facts: ClassifierFacts
    judge: ModelJudge
    tokenizer: Any

    @classmethod
    def of(cls, recipe: JudgeRecipe, facts: ClassifierFacts) -> CausalBase:
        """Return the base; its weights are loaded when they are needed.

        Raises:
            ConfigError: the judge is not one with a verdict in words, or has other words.
        """
        if recipe.head_only:
            raise ConfigError(
                "head_only is for an encoder; leave it out with the key judge", key="head_only"
            )
        judge = create("judges", {"name": recipe.judge, "explain": False}, where="judge")
        words = getattr(getattr(judge, "schema", None), "words", ())
        if not isinstance(judge, ModelJudge) or not set(facts.labels) <= set(words):
            raise ConfigError(
                f"judge: {recipe.judge!r} has no verdict with the labels "
                f"{', '.join(facts.labels)}{f' (it has {chr(44).join(words)})' if words else ''}; "
                "name a judge that chooses one of these words, such as equivalence",
                key="judge",
                value=recipe.judge,
            )
        tokenizer, _ = load_causal_lm(
            find_model(recipe.base), recipe.base, recipe.device, recipe.optim.dtype
        )
        return cls(recipe, facts, judge, tokenizer)

    def examples(self, items: Sequence[ItemToLearn], notes: list[str]) -> list[Example]:
        """Return prompt and label of each item; those that cannot be judged or are long go."""
        found, without, long = [], 0, 0
        for one in items:
            messages = self._messages(one.item)
            if messages is None:
                without += 1
                continue
            example = chat_example(self.tokenizer, messages, one.label)
            if len(example) > self.recipe.max_tokens:
                long += 1
            else:
                found.append(example)
        if without:
            notes.append(f"{without} items were left out: {self.recipe.judge} makes no single call")
        if long:
            most = self.recipe.max_tokens
            notes.append(f"{long} prompts of more than {most} tokens were left out (max_tokens)")
        return found

    def _messages(self, item: Item) -> tuple[ChatMessage, ...] | None:
        """Return the judge's prompt; None unless one call decides the item."""
        if self.judge.without_call(item) is not None:
            return None
        calls = self.judge.calls_for(item)
        return tuple(calls[0].messages) if len(calls) == 1 else None

    def learner(self) -> CausalLearner:
        """Return the base with a new adapter."""
        model = with_adapter(self._model(), self.recipe)
        return CausalLearner.of(model, self.tokenizer, self.recipe)

    @property
    def _padding(self) -> int:
        padding = self.tokenizer.pad_token_id
        return int(self.tokenizer.eos_token_id if padding is None else padding)

    def _model(self) -> Any:
        recipe = self.recipe
        path = find_model(recipe.base)
        return load_causal_lm(path, recipe.base, recipe.device, recipe.optim.dtype)[1]

    def save(self, learner: CausalLearner, folder: Path, facts: ClassifierFacts) -> None:
        """Write the adapter, or the whole model, and the facts."""
        save_weights(learner.model, self.tokenizer, folder)
        write_facts(folder, facts)

    def scores(self, folder: Path | None, items: Sequence[ItemToLearn]) -> Scores:
        """Return the log-likelihoods of the labels; equal ones for an item without a prompt."""
        model = self._model() if folder is None else self._trained(folder)
        model.eval()
        found = np.zeros((len(items), len(self.facts.labels)))
        for place, one in enumerate(items):
            messages = self._messages(one.item)
            if messages is not None:
                found[place] = self._likelihoods(model, messages)
        return found

    def _trained(self, folder: Path) -> Any:
        if not (folder / "adapter_config.json").is_file():
            recipe = self.recipe
            return load_causal_lm(folder, str(folder), recipe.device, recipe.optim.dtype)[1]
        from peft import PeftModel

        with quiet():
            return PeftModel.from_pretrained(self._model(), folder)

    def _likelihoods(self, model: Any, messages: Sequence[ChatMessage]) -> list[float]:
        """Return the log-probability of each label as the whole answer."""
        import torch

        examples = [chat_example(self.tokenizer, messages, word) for word in self.facts.labels]
        batch = padded(examples, self._padding)
        wanted = batch.pop("labels")[:, 1:]
        kept = (wanted != IGNORED).any(0).nonzero().flatten()
        inputs = {name: tensor.to(model.device) for name, tensor in batch.items()}
        with torch.inference_mode():
            logits = scores_at(model, inputs, kept.to(model.device))
        losses = torch.nn.functional.cross_entropy(
            logits.float().cpu().transpose(1, 2),
            wanted[:, kept],
            reduction="none",
            ignore_index=IGNORED,
        )
        found: list[float] = (-losses.sum(1)).tolist()
        return found
