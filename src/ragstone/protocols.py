"""One protocol per step, and the services of a step.

A component of a kind is a class with the protocol's verb. Built-in components derive from the
protocol; their verbs take items and services and return one `Outcome` per item. Your own class
needs no base class, and its verb may have a shorter form (see `core.component`).
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from ragstone.core.component import Component, Outcome
from ragstone.core.executors.base import IN_PROCESS, Executor
from ragstone.core.returned_scores import returned_scores
from ragstone.core.spec import Spec
from ragstone.errors import ComponentError, ConfigError, RagstoneError
from ragstone.types import Context, Prediction, Ranking, Score

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragstone.calls.client import Calls
    from ragstone.calls.estimates import Estimate
    from ragstone.core.store import Store
    from ragstone.data.corpus import Corpus
    from ragstone.types import Candidates, ContextPassage, Document, Passage, Query, Search, Task

    Embedding: TypeAlias = npt.NDArray[np.float32] | Mapping[int, float]

Output: TypeAlias = Literal["dense", "sparse", "tokens"]
Role: TypeAlias = Literal["query", "passage"]
"""The side of a search: many encoders treat queries and passages differently."""


class Services:
    """The services of a step: models, the store, and the data besides the step's items.

    Args:
        calls: makes model calls; without it, the property `calls` raises.
        store: the store of finished steps and indexes; if None, nothing is stored.
        corpus: the passages; without them, the property `corpus` raises.
        qrels: query id -> passage id -> grade.
        executor: computes blocks of items; by default this process.
    """

    def __init__(
        self,
        *,
        calls: Calls | None = None,
        store: Store | None = None,
        corpus: Corpus | None = None,
        qrels: Mapping[str, Mapping[str, int]] | None = None,
        executor: Executor = IN_PROCESS,
    ) -> None:
        self._calls, self._corpus, self.executor = calls, corpus, executor
        self.store = store if store or corpus is None else corpus.store
        self.qrels = qrels or {}

    @property
    def calls(self) -> Calls:
        """The maker of model calls."""
        if self._calls is None:
            raise RagstoneError("this component calls a model; give it Services(calls=...)")
        return self._calls

    @property
    def corpus(self) -> Corpus:
        """The passages of the data set."""
        if self._corpus is None:
            raise RagstoneError(
                "this component reads the corpus; declare uses = frozenset({'corpus'}) in its "
                "class, or in Python give it Services(corpus=...)"
            )
        return self._corpus

    def of_step(self, qrels: Mapping[str, Mapping[str, int]], corpus: Corpus | None) -> Services:
        """Return the services of a step: with the data that are part of its key, and no others."""
        return Services(
            calls=self._calls, store=self.store, corpus=corpus, qrels=qrels, executor=self.executor
        )


class Chunker(Component):
    """Cuts documents into passages."""

    verb = "cut"
    returns = (Iterable,)
    item_names: ClassVar = {"documents": "document"}

    def cut(
        self, documents: Sequence[Document], services: Services
    ) -> Iterable[Outcome[Sequence[Passage]]]:
        """Return the passages of each document in order, each made by `document.passage`.

        A document of white space has no passages.
        """
        for document in documents:
            yield Outcome(list(self.passages(document)))

    def passages(self, document: Document) -> Iterable[Passage]:
        """Return the passages of one document, if they depend on no other document."""
        raise NotImplementedError


class QueryFormer(Component):
    """Turns a query and its history into the search text."""

    verb = "form"
    returns = (str, NoneType)
    item_names: ClassVar = {"queries": "query"}

    def form(self, queries: Sequence[Query], services: Services) -> Iterable[Outcome[str | None]]:
        """Return one search text per query, in order; None falls back to the query's own text."""
        raise NotImplementedError


class Embedder(Component):
    """Turns texts into vectors; queries and passages may be treated differently."""

    verb = "embed"
    item_names: ClassVar = {"texts": "text"}
    output: ClassVar[Output] = "dense"
    """Kind of the values: one vector per text, weights of terms, or one vector per token."""
    texts_per_call: ClassVar[int] = 32
    """Number of texts per call of the verb while a corpus is embedded."""

    @property
    def dimension(self) -> int | None:
        """Length of a vector; None if it is known only after the first text."""
        return None

    def embed(
        self, texts: Sequence[str], role: Role, services: Services
    ) -> Iterable[Outcome[Embedding | None]]:
        """Return the vectors of each text, in order, in the form that `output` names.

        - "dense": an array of shape (dimension,);
        - "sparse": term number -> weight above 0; empty for a text without a known term;
        - "tokens": an array of shape (tokens, dimension), its rows of length 1.
        """
        raise NotImplementedError


class Retriever(Component):
    """Finds passages for search texts.

    A retriever with `parts` is a fusion: each part has its own step, and `fuse` joins the rankings.
    """

    verb = "retrieve"
    returns = (Ranking,)
    item_names: ClassVar = {"searches": "search"}
    required = ("top_k",)
    sizes: ClassVar[tuple[str, ...]] = ("top_k",)
    top_k: int
    """Maximum length of a ranking; a field of the component."""

    @property
    def parts(self) -> tuple[Retriever, ...]:
        """The retrievers whose rankings are fused; empty if the retriever is not a fusion."""
        return ()

    @property
    def declared_release(self) -> str | None:
        """The declared version of an index that others may change, or ""; None without such."""
        return None

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterable[Outcome[Ranking | None]]:
        """Return one ranking per search, in order, of at most `top_k` passages each.

        A ranking may be empty: a query without hits is scored by every metric.
        """
        raise NotImplementedError

    def fuse(self, rankings: Sequence[Sequence[Ranking]]) -> Iterable[Ranking]:
        """Return one ranking per search from the rankings of each part, in their order."""
        raise NotImplementedError


class Reranker(Component):
    """Reorders the head of a ranking."""

    verb = "rerank"
    returns = (Ranking, NoneType)
    item_names: ClassVar = {"searches": "search", "rankings": "ranking"}
    required = ("top_k",)
    sizes: ClassVar[tuple[str, ...]] = ("top_k",)
    top_k: int
    """Maximum length of a ranking; a field of the component."""

    @property
    def reads(self) -> int:
        """Passages of a ranking that the reranker reads; at least `top_k`."""
        return self.top_k

    def rerank(
        self, searches: Sequence[Search], rankings: Sequence[Ranking], services: Services
    ) -> Iterable[Outcome[Ranking | None]]:
        """Return one ranking per search, in order; None keeps the given ranking."""
        raise NotImplementedError


class ContextSetting(Component):
    """The rule of one context setting: it chooses and orders the passages for the generator.

    `uses` names the candidates that it reads ("gold", "noise", "retrieved"; others are empty).
    """

    verb = "build"
    returns = (Context, Iterable)
    item_names: ClassVar = {"candidates": "candidate"}
    computed_with = (
        "ragstone.components.context_settings.passage_sources:PassageSources",
        "ragstone.components.context_settings.shown:as_context",
    )
    item_fields = ("query", "gold", "noise", "retrieved")

    @property
    def setting(self) -> str:
        """The canonical name, for example `gold+noise(3)`; by default class and parameters."""
        given = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]  # components are dataclasses
        return str(Spec(type(self).__name__, given))

    @property
    def shows(self) -> int:
        """Maximum number of retrieved passages in a context; 0 if the rule reads none."""
        return 0

    def not_applicable(self, relevant_count: int) -> str:
        """Return why n relevant passages leave a query out of every setting, or ""."""
        return ""

    def inapplicable(self, query: Query, relevant_count: int) -> str:
        """Return why a query is left out of this setting alone, or ""."""
        return ""

    def build(
        self, candidates: Sequence[Candidates], services: Services
    ) -> Iterable[Outcome[Context]]:
        """Return one context per query, in order."""
        for given in candidates:
            yield Outcome(Context(given.query.query_id, self.setting, self.passages(given)))

    def passages(self, candidates: Candidates) -> tuple[ContextPassage, ...]:
        """Return the passages of one query's context, if they depend on no other query."""
        raise NotImplementedError


class Processor(Component):
    """Changes contexts before they are part of a prompt."""

    verb = "process"
    returns = (Context, NoneType)
    item_names: ClassVar = {"tasks": "task"}
    item_fields = ("query", "context")

    def process(
        self, tasks: Sequence[Task], services: Services
    ) -> Iterable[Outcome[Context | None]]:
        """Return one context per task, in order; None keeps the given context."""
        raise NotImplementedError


class Generator(Component):
    """Answers queries from their contexts."""

    verb = "generate"
    returns = (str, Prediction)
    item_names: ClassVar = {"tasks": "task"}
    item_fields = ("query", "context")
    may_retrieve: ClassVar[bool] = False
    """Whether predictions may have `passage_ids`, which are then measured as a ranking."""

    @property
    def declared_release(self) -> str:
        """The version that the user declared, or ""."""
        return ""

    def declared(self, **options: Any) -> Self:
        """Return the generator with options of its system; `ConfigError` if it has none such."""
        name = min(options)
        raise ConfigError(f"its generator {type(self).__name__} has no option {name!r}", key=name)

    @property
    def asks_again(self) -> bool:
        """Whether each run asks again, because a change of the system would not be noticed."""
        return False

    def check_queries(self, queries: Sequence[Query]) -> None:
        """Raise `ConfigError` if these queries cannot be answered together."""

    def check_setting(self, setting: str) -> None:
        """Raise `ConfigError` if the generator takes no passages; the setting shows some."""

    def estimate(
        self, tasks: Sequence[Task], services: Services, *, sample: int = 0
    ) -> Estimate | None:
        """Return the estimated model calls of the tasks; None if no model is called."""
        return None

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterable[Outcome[Prediction]]:
        """Return one prediction per task, in order; one without an answer has a reason."""
        raise NotImplementedError

    def prediction_of(self, query_id: str, outcome: Outcome[Any]) -> Prediction:
        """Return the prediction of one outcome, whose value may be a text or None too.

        Raises:
            ComponentError: the answer is not a text.
        """
        value = outcome.value
        if not isinstance(value, Prediction):
            return Prediction(query_id, value, outcome.reason)
        if not isinstance(value.answer, str | None):
            raise ComponentError(
                f"{type(self).__name__}.generate returned a prediction for query {query_id!r} "
                f"whose answer is {value.answer!r}; it must be a text or None",
                query_id=query_id,
                value=value.answer,
            )
        return value


class Judge(Component):
    """Grades predictions; `str` of it is the name of its metric.

    A value of your own judge is a number, a bool, a `Score` or several; `scores_of` converts it.
    """

    verb = "judge"
    item_names: ClassVar = {"tasks": "task", "predictions": "prediction"}
    name: ClassVar[str] = ""
    """The name of the metric; if empty, the name of the class."""
    direction: ClassVar[Literal["higher", "lower", "neutral"]] = "higher"
    """Which scores are better."""
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    """Lowest and highest score; None if scores have no bounds."""

    def __str__(self) -> str:
        """Return the name of the judge's metric."""
        return self.name or type(self).__name__

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that the judge's scores belong to."""
        return (str(self),)

    @property
    def graded(self) -> bool:
        """Whether scores other than 0 and 1 occur, so that correct answers need a threshold."""
        return True

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models that are called."""
        return ()

    @classmethod
    def described(cls) -> str:
        """Return the description in a report: the first paragraph of the docstring."""
        return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())

    def judge(
        self, tasks: Sequence[Task], predictions: Sequence[Prediction], services: Services
    ) -> Iterable[Outcome[Sequence[Score]]]:
        """Return the scores of each prediction, one per metric of the judge.

        A missing verdict is a score with a reason; the outcome has `retry` if a call failed.
        """
        raise NotImplementedError

    def scores_of(self, query_id: str, outcome: Outcome[Any]) -> Sequence[Score]:
        """Return the scores of one outcome of the judge.

        Without a finite value, each metric has a failed score. Raises `ComponentError` if the value
        is neither a number nor scores of the judge's metrics.
        """
        return returned_scores(type(self).__name__, str(self), self.metrics, query_id, outcome)
