"""Training of an embedder: a query's vector is nearest to that of its relevant passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

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


@dataclass(frozen=True, kw_only=True)
class EmbedderRecipe(RetrievalRecipe):
    """The keys of `ragstone train embedder`."""

    loss: Literal["contrastive"] = "contrastive"
    """The relevant passage against all other passages of the batch."""
    temperature: Annotated[float, Field(gt=0)] = 0.05
    """Cosine similarities are divided by it; sentence-transformers calls its inverse the scale."""
    query_prefix: str = ""
    """Text before each query, which the embedder in use must get as well."""
    passage_prefix: str = ""
    test_passages: Count | None = None
    """Passages that are searched in the test: those of the test queries and of their first ranks,
    filled up at random; None: all."""


@dataclass(frozen=True)
class EmbedderLearner:
    """The cross-entropy of the relevant passage among all passages of the batch.

    Passages of the batch that are relevant to a query, or near-copies of such, are masked for it.

    Args:
        model: a model of sentence-transformers.
        recipe: temperature, prefixes and device.
    """

    model: Any
    recipe: EmbedderRecipe

    def targets(self, examples: Sequence[RankingExample]) -> int:
        """Return the number of examples."""
        return len(examples)

    def loss(self, examples: Sequence[RankingExample]) -> Any:
        """Return the sum of the losses of the examples."""
        import torch

        texts = {i: one.text(i) for one in examples for i in one.passage_ids}
        ids = list(texts)
        half = self.recipe.optim.dtype == "bfloat16"
        with torch.autocast(self.recipe.device, dtype=torch.bfloat16, enabled=half):
            queries = self._vectors(self.recipe.query_prefix, [one.query for one in examples])
            passages = self._vectors(self.recipe.passage_prefix, list(texts.values()))
        scores = queries.float() @ passages.float().T / self.recipe.temperature
        hidden = [[i in one.relevant and i != one.positive for i in ids] for one in examples]
        wanted = [ids.index(one.positive) for one in examples]
        return torch.nn.functional.cross_entropy(
            scores.masked_fill(torch.tensor(hidden, device=scores.device), -torch.inf),
            torch.tensor(wanted, device=scores.device),
            reduction="sum",
        )

    def _vectors(self, prefix: str, texts: Sequence[str]) -> Any:
        import torch

        features = self.model.preprocess([prefix + text for text in texts])
        found = self.model(on_device(features, self.recipe.device))["sentence_embedding"]
        return torch.nn.functional.normalize(found, dim=1)


def embedder_training(
    recipe: EmbedderRecipe,
    parts: Mapping[str, Mining],
    data: Mapping[str, Any],
    *,
    files: Mapping[str, str],
) -> Training[RankingExample]:
    """Return the training of an embedder; nothing is trained yet.

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
    encoder_folder(recipe)
    return ranking_training(
        "embedder",
        recipe,
        parts,
        data,
        lambda: EmbedderLearner(load_embedder(recipe), recipe),
        batch=32,
        files=files,
    )


def load_embedder(recipe: EmbedderRecipe) -> Any:
    """Return the base as an embedder; a plain encoder gets mean pooling and normalisation."""
    import sentence_transformers
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

    made = load_encoder(sentence_transformers.SentenceTransformer, recipe)
    if not (encoder_folder(recipe) / "modules.json").is_file():
        pooling = Pooling(made[0].get_embedding_dimension(), pooling_mode="mean")
        made = sentence_transformers.SentenceTransformer(
            modules=[made[0], pooling, Normalize()], device=recipe.device
        )
    made.max_seq_length = min(recipe.max_tokens, made.max_seq_length or recipe.max_tokens)
    return made
