"""Examples of rerankers and embedders: a query, a relevant passage, and mined hard negatives.

A negative is a passage that a retriever ranks high and that is not known to be relevant. These are
never negatives of a query: its relevant passages, near-copies of them, and passages from documents
of another part of the data.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.core.screen_text import cause_of
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.training_marks import document_of
from ragstone.data_quality.duplicates import LEAST, squeezed
from ragstone.data_quality.shingles import near_pairs, word_shingles
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.locate import FROM_FILES, SENTENCE_TRANSFORMERS, find_model, weights_digest
from ragstone.models.quiet import quiet
from ragstone.training.fitting import Learner
from ragstone.training.recipe import Count, Optim, Recipe, Share
from ragstone.training.training import Training
from ragstone.training.weights import compute_again
from ragstone.types import Ranking, Search

_DECODERS: Final = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")
"""Ends of the names of architectures that write text."""


@dataclass(frozen=True, kw_only=True)
class RetrievalOptim(Optim):
    """The optimisation of all weights of an encoder: a lower rate than that of an adapter."""

    lr: Annotated[float, Field(gt=0)] = 2e-5
    warmup: Share = 0.1
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    packing: Literal[False] = False
    """Texts are never packed: an encoder sees one text per row."""


@dataclass(frozen=True, kw_only=True)
class RetrievalRecipe(Recipe):
    """The keys that `ragstone train reranker` and `ragstone train embedder` share."""

    method: Literal["full"] = "full"
    """All weights are trained."""
    optim: RetrievalOptim = field(default_factory=RetrievalOptim)
    max_tokens: Count = 256
    """Longer texts are cut, in training and in use."""
    negatives: Any = "bm25"
    """Source of the hard negatives: a retriever, the path of a TREC run, or
    {experiment: FILE, system: NAME}."""
    depth: Count = 50
    """Ranks that negatives are drawn from, and that a reranker reorders in the test."""
    skip: Annotated[int, Field(ge=0)] = 0
    """First ranks that are not negatives: they may be relevant without a judgement."""
    per_query: Annotated[int, Field(ge=0)] = 4
    """Hard negatives per relevant passage, drawn by the seed."""
    test_queries: Count | None = None
    """Queries of the test part that are searched, drawn by the seed; None: all."""

    needs_negatives: ClassVar[bool] = False
    """Whether a query without hard negatives teaches nothing."""


@dataclass(frozen=True, slots=True)
class RankingExample:
    """A query with a relevant passage and hard negatives, as passage ids."""

    query_id: str
    query: str
    positive: str
    negatives: tuple[str, ...]
    relevant: frozenset[str]
    """Relevant passages and their near-copies: never negatives of this query."""
    corpus: Corpus = field(repr=False, compare=False)

    @property
    def passage_ids(self) -> tuple[str, ...]:
        """The relevant passage, then the negatives."""
        return (self.positive, *self.negatives)

    def text(self, passage_id: str) -> str:
        """Return the title and text of a passage."""
        return self.corpus[passage_id].full_text


@dataclass(frozen=True)
class Mining:
    """The examples of one part of the data.

    Args:
        recipe: number and ranks of the negatives, and the seed.
        dataset: queries, passages and judgements.
        query_ids: the queries of the part.
        rankings: query id -> passages that may be negatives, best first.
        unread: documents of other parts, whose passages are not negatives.
    """

    recipe: RetrievalRecipe
    dataset: Dataset
    query_ids: Sequence[str]
    rankings: Mapping[str, Ranking]
    unread: frozenset[str] = frozenset()

    @cached_property
    def examples(self) -> list[RankingExample]:
        """One example per query and relevant passage, in order."""
        texts = {query.query_id: query.text for query in self.dataset.queries}
        return [
            RankingExample(
                query_id,
                texts[query_id],
                positive,
                self._negatives(query_id),
                self._relevant(query_id),
                self.dataset.corpus,
            )
            for query_id in self.query_ids
            for positive in relevant_ids(self.dataset, query_id)
        ]

    @property
    def learned(self) -> list[RankingExample]:
        """The examples that the recipe's kind of model can learn from."""
        if not self.recipe.needs_negatives:
            return self.examples
        return [one for one in self.examples if one.negatives]

    @property
    def notes(self) -> list[str]:
        """What was left out, and why."""
        without = sum(not relevant_ids(self.dataset, i) for i in self.query_ids)
        short = sum(len(one.negatives) < self.recipe.per_query for one in self.examples)
        counts = {
            f"{without:,} queries without a relevant passage were left out": without,
            f"{short:,} examples have fewer than {self.recipe.per_query} hard negatives": short,
        }
        return [note for note, count in counts.items() if count]

    @property
    def digest(self) -> str:
        """The digest of the examples: another run file gives another training."""
        return fingerprint([[e.query_id, *e.passage_ids] for e in self.examples])

    def _negatives(self, query_id: str) -> tuple[str, ...]:
        ranked = self._window(query_id)
        never = self._relevant(query_id)
        allowed = [
            i for i in ranked if i not in never and document_of(self.dataset, i) not in self.unread
        ]
        wanted = min(self.recipe.per_query, len(allowed))
        drawn = random.Random(f"{self.recipe.seed} {query_id}")  # noqa: S311 - not a secret
        return tuple(drawn.sample(allowed, wanted))

    def _window(self, query_id: str) -> Sequence[str]:
        ranking = self.rankings.get(query_id, Ranking())
        return ranking.passage_ids[self.recipe.skip : self.recipe.depth]

    def _relevant(self, query_id: str) -> frozenset[str]:
        own = relevant_ids(self.dataset, query_id)
        return frozenset(own).union(*(self._copies.get(one, ()) for one in own))

    @cached_property
    def _copies(self) -> dict[str, set[str]]:
        """Passage id -> passages with nearly the same text, among all that the part reads."""
        read = {i for q in self.query_ids for i in self._window(q)}
        read |= {i for q in self.query_ids for i in relevant_ids(self.dataset, q)}
        ids = sorted(read, key=self.dataset.corpus.position)
        sets = word_shingles(squeezed(self.dataset.corpus[i].text) for i in ids)
        found: dict[str, set[str]] = {}
        for pair in near_pairs(sets, LEAST):
            one, other = ids[pair.first], ids[pair.second]
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
        return found


def relevant_ids(dataset: Dataset, query_id: str) -> list[str]:
    """Return the relevant passages of a query, in the order of the judgements."""
    return [i for i, grade in dataset.qrels.get(query_id, {}).items() if grade > 0]


def documents_of(dataset: Dataset, query_ids: Iterable[str]) -> frozenset[str]:
    """Return the documents of the relevant passages of some queries."""
    ids = {i for query_id in query_ids for i in relevant_ids(dataset, query_id)}
    return frozenset(document_of(dataset, i) for i in ids)


def searches_of(dataset: Dataset, query_ids: Sequence[str]) -> list[Search]:
    """Return the searches of those of some queries that have a relevant passage."""
    texts = {query.query_id: query.text for query in dataset.queries}
    return [Search(i, texts[i]) for i in query_ids if relevant_ids(dataset, i)]


def check_judgements(dataset: Dataset) -> None:
    """Raise `ConfigError` if a data set has no relevant passages to learn from."""
    if dataset.judged != "passage":
        raise ConfigError(
            f"the judgements of {dataset.name} are of documents; training needs relevant "
            "passages: give a data set whose qrels name passages (data)",
            key="data",
        )
    if not any(grade > 0 for found in dataset.qrels.values() for grade in found.values()):
        raise ConfigError(
            f"the data set {dataset.name} has no qrels with a relevant passage; give one that has "
            "(data)",
            key="data",
        )


def check_negatives(examples: Sequence[RankingExample], recipe: RetrievalRecipe) -> None:
    """Raise `ConfigError` if hard negatives are wanted and no example has one."""
    if recipe.per_query and not any(one.negatives for one in examples):
        raise ConfigError(
            f"no negatives are left: the ranks {recipe.skip + 1} to {recipe.depth} of "
            f"{recipe.negatives!r} have relevant passages, copies of them, passages of other parts "
            "or nothing. Lower skip, raise depth, or name another source (negatives)",
            key="negatives",
            value=recipe.negatives,
        )


def ranking_training(
    kind: str,
    recipe: RetrievalRecipe,
    parts: Mapping[str, Mining],
    data: Mapping[str, Any],
    learner: Callable[[], Learner[RankingExample]],
    *,
    batch: int,
    files: Mapping[str, str],
) -> Training[RankingExample]:
    """Return the training of an embedder or a reranker; nothing is trained yet.

    Args:
        kind: embedder or reranker.
        recipe: the keys of the file.
        parts: `train` and `validation` -> mined examples.
        data: facts about the data, for the record.
        learner: loads the base.
        batch: examples per step, unless the file names a number.
        files: further files of the output, such as the queries of each split.

    Raises:
        ConfigError: no negatives are left.
    """
    examples = {name: part.learned for name, part in parts.items()}
    check_negatives(parts["train"].examples, recipe)
    return Training(
        kind,
        recipe,
        weights_digest(recipe.base, kind=SENTENCE_TRANSFORMERS),
        {**data, "examples": {name: part.digest for name, part in parts.items()}},
        examples["train"],
        examples["validation"],
        recipe.optim.batch or batch,
        learner,
        _save_encoder,
        [f"{name}: {note}" for name, part in parts.items() for note in part.notes],
        files=files,
    )


def encoder_folder(recipe: RetrievalRecipe) -> Path:
    """Return the folder of the base.

    Raises:
        MissingDependency: a package of the extra `st` is missing.
        ModelFileError: there is no such model.
        ConfigError: the base writes text, and is not an encoder.
    """
    require("training an encoder", "st", "torch", "sentence_transformers")
    folder = find_model(recipe.base, kind=SENTENCE_TRANSFORMERS)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    names = config.get("architectures") or []
    if not (folder / "modules.json").is_file() and any(n.endswith(_DECODERS) for n in names):
        raise ConfigError(
            f"the base {recipe.base!r} is not an encoder: it is a {', '.join(names)}. Give a model "
            "such as BERT, or a folder of sentence-transformers (base)",
            key="base",
            value=recipe.base,
        )
    return folder


def load_encoder(make: Callable[..., Any], recipe: RetrievalRecipe, **more: Any) -> Any:
    """Return the base as a class of sentence-transformers loads it.

    Raises:
        ModelFileError: the package cannot load it.
    """
    from safetensors import SafetensorError

    folder = encoder_folder(recipe)
    try:
        with quiet():
            loaded = make(
                str(folder),
                device=recipe.device,
                **FROM_FILES,
                model_kwargs={"use_safetensors": True, "dtype": "float32"},
                **more,
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        cause = cause_of(error)
        raise ModelFileError(
            f"sentence-transformers cannot load the base {recipe.base!r} from {folder}: {cause}"
        ) from error
    if recipe.optim.checkpointing:
        compute_again(loaded[0].model)
    return loaded


def _save_encoder(done: Learner[RankingExample], folder: Path) -> None:
    """Write a complete folder of sentence-transformers, without its own model card."""
    with quiet():
        done.model.save_pretrained(str(folder), create_model_card=False)


def on_device(features: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Return the inputs of a model, their tensors on a device."""
    return {name: v.to(device) if hasattr(v, "to") else v for name, v in features.items()}
