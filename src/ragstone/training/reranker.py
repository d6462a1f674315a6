"""Training of a reranker: a relevant passage scores higher than hard negatives of its query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from ragstone.errors import ConfigError
from ragstone.training.recipe import Count
from ragstone.training.retrieval import (
    Mining,
    RankingExample,
    RetrievalRecipe,
    encoder_folder,
    load_encoder,
    on_device,
    ranking_training,
)
from ragstone.training.training import Training

_BINARY: Final = 2


@dataclass(frozen=True, kw_only=True)
class RerankerRecipe(RetrievalRecipe):
    """The keys of `ragstone train reranker`."""

    per_query: Count = 4
    loss: Literal["listwise", "pairs"] = "listwise"
    """`listwise`: the relevant passage against the negatives of its query; `pairs`: each passage on
    its own, as relevant or not."""
    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Scores are divided by it."""

    needs_negatives: ClassVar[bool] = True


@dataclass(frozen=True)
class RerankerLearner:
    """The cross-entropy of the relevant passage among those of its query, or of each passage.

    Args:
        model: a cross-encoder of sentence-transformers.
        recipe: loss, temperature and device.
    """

    model: Any
    recipe: RerankerRecipe

    def targets(self, examples: Sequence[RankingExample]) -> int:
        """Return the number of examples, or of their passages with the loss `pairs`."""
        if self.recipe.loss == "listwise":
            return len(examples)
        return sum(len(one.passage_ids) for one in examples)

    def loss(self, examples: Sequence[RankingExample]) -> Any:
        """Return the sum of the losses of the targets."""
        import torch

        sizes = [len(one.passage_ids) for one in examples]
        scores = self._scores(examples) / self.recipe.temperature
        groups = torch.split(scores, sizes)
        if self.recipe.loss == "pairs":
            first = [torch.arange(size) == 0 for size in sizes]
            return torch.nn.functional.binary_cross_entropy_with_logits(
                scores, torch.cat(first).to(scores), reduction="sum"
            )
        # The relevant passage is the first of its group.
        rows = torch.nn.utils.rnn.pad_sequence(
            list(groups), batch_first=True, padding_value=-torch.inf
        )
        wanted = torch.zeros(len(examples), dtype=torch.long, device=scores.device)
        return torch.nn.functional.cross_entropy(rows, wanted, reduction="sum")

    def _scores(self, examples: Sequence[RankingExample]) -> Any:
        """Return one score per passage of each example, in order."""
        import torch

        pairs = [(one.query, one.text(i)) for one in examples for i in one.passage_ids]
        device, half = self.recipe.device, self.recipe.optim.dtype == "bfloat16"
        features = on_device(self.model.preprocess(pairs), device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=half):
            logits = self.model(features)["scores"].float()
        # With two classes, the log-odds of the second one, as in use.
        return logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]


def reranker_training(
    recipe: RerankerRecipe,
    parts: Mapping[str, Mining],
    data: Mapping[str, Any],
    *,
    files: Mapping[str, str],
) -> Training[RankingExample]:
    """Return the training of a reranker; nothing is trained yet.

    Args:
        recipe: the keys of the file.
        parts: `train` and `validation` -> mined examples.
        data: facts about the data, for the record.
        files: further files of the output, such as the queries of each split.

    Raises:
        MissingDependency: a package of the extra `st` is missing.
        ModelFileError: there is no such base.
        ConfigError: the base is not an encoder, or no negatives are left.
    """
    scores_pairs(recipe)
    return ranking_training(
        "reranker",
        recipe,
        parts,
        data,
        lambda: RerankerLearner(_load(recipe), recipe),
        batch=8,
        files=files,
    )


def scores_pairs(recipe: RerankerRecipe) -> bool:
    """Return whether the base is a cross-encoder already: one without a head gets a new one.

    Raises:
        ConfigError: the base is a classifier of more than two classes, or not an encoder.
    """
    config = json.loads((encoder_folder(recipe) / "config.json").read_text(encoding="utf-8"))
    names = config.get("architectures") or []
    if not any(name.endswith("ForSequenceClassification") for name in names):
        return False
    classes = len(config.get("id2label") or {0: "", 1: ""})
    if classes > _BINARY:
        raise ConfigError(
            f"the base {recipe.base!r} has {classes} classes; a reranker has one score, or two "
            "classes (not relevant, relevant)",
            key="base",
            value=recipe.base,
        )
    return True


def _load(recipe: RerankerRecipe) -> Any:
    import sentence_transformers

    new = {} if scores_pairs(recipe) else {"num_labels": 1}
    return load_encoder(
        sentence_transformers.CrossEncoder, recipe, max_length=recipe.max_tokens, **new
    )
