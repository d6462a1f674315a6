"""The verbs of Ragstone: what each kind of component does.

A component is a frozen dataclass with one verb. Its fields are its configuration and its cache key;
heavy state is a `cached_property`, so that a result already kept loads no model.

- `version: ClassVar[int]` goes up when the output changes.
- A field that cannot change the output (device, concurrency, time-out) is declared with
  `field(metadata=NOT_IN_KEY)` and stays out of the key.
- A component whose output depends on bytes outside its fields (a model file, a file of answers)
  says which through a `revision` property (a string); it is part of the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragstone.calls.client import Calls
    from ragstone.core.vectors import SparseVectors, TokenVectors
    from ragstone.data.corpus import Corpus
    from ragstone.data.dataset import Dataset
    from ragstone.types import (
        Context,
        Document,
        Formed,
        GoldPassages,
        NoisePassages,
        Passage,
        Prediction,
        Processed,
        Query,
        Ranking,
        Reranked,
        RetrievedPassages,
        Score,
        Search,
        Task,
    )


@runtime_checkable
class DatasetReader(Protocol):
    """Reads one file layout into a data set."""

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with file and line where it is malformed."""
        ...


@runtime_checkable
class Chunker(Protocol):
    """Cuts documents into passages."""

    def cut(self, document: Document) -> Iterable[Passage]:
        """Return the document's passages in order, each made by `document.passage`.

        A document of white space alone has none.
        """
        ...


@runtime_checkable
class QueryFormer(Protocol):
    """Turns a query and its history into the text that is searched for."""

    def form(self, queries: Sequence[Query]) -> list[str]:
        """Return one search text per query, in order."""
        ...


@runtime_checkable
class AskingFormer(Protocol):
    """Turns queries into search texts by asking a model: the other kind of query former."""

    def ask(self, queries: Sequence[Query], calls: Calls) -> Iterable[Formed]:
        """Return one search text per query, in order; a failure keeps the query's own text."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """Finds passages for search texts."""

    top_k: int
    """Length of a ranking; a field of the component."""

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> Iterable[Ranking]:
        """Return one ranking per search, in order, of at most `top_k` passages each.

        An empty ranking is a legal answer: a query without hits stays in every metric.
        """
        ...


@runtime_checkable
class JudgedRetriever(Retriever, Protocol):
    """A retriever that may look at the relevance judgements, as an upper bound must."""

    def with_qrels(self, qrels: Mapping[str, Mapping[str, int]]) -> Retriever:
        """Return the retriever with the judgements of a data set."""
        ...


@runtime_checkable
class CallingRetriever(Retriever, Protocol):
    """A retriever that asks a server, an embedding endpoint say, and needs a way to it."""

    def with_calls(self, calls: Calls) -> Retriever:
        """Return the retriever with the way to servers that an experiment uses."""
        ...


@runtime_checkable
class FusingRetriever(Retriever, Protocol):
    """A retriever made of others, whose rankings are kept one by one and then joined."""

    @property
    def retrievers(self) -> tuple[Retriever, ...]:
        """The retrievers it is made of."""
        ...

    def fuse(self, rankings: Sequence[Sequence[Ranking]]) -> Iterable[Ranking]:
        """Return one ranking per search from those of each retriever, in their order."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Orders the head of a ranking anew."""

    top_k: int

    def rerank(
        self, searches: Sequence[Search], rankings: Sequence[Ranking], corpus: Corpus
    ) -> Iterable[Ranking]:
        """Return one ranking per search, in order, of at most `top_k` passages each."""
        ...


@runtime_checkable
class AskingReranker(Protocol):
    """Orders the head of a ranking by asking a model: the other kind of reranker."""

    top_k: int

    def ask(
        self,
        searches: Sequence[Search],
        rankings: Sequence[Ranking],
        corpus: Corpus,
        calls: Calls,
    ) -> Iterable[Reranked]:
        """Return one ranking per search, in order; a failure keeps the order that came."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors; queries and passages may be prefixed differently."""

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension)."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension)."""
        ...


@runtime_checkable
class SparseEncoder(Protocol):
    """Turns texts into weights of the words of a vocabulary; an embedder of another kind."""

    def encode_queries(self, texts: Sequence[str]) -> SparseVectors:
        """Return one row per text; a text without a known word is an empty row."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> SparseVectors:
        """Return one row per text; a text without a known word is an empty row."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """Turns texts into one vector per token, for late interaction; a third kind of embedder."""

    def query_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of each query's tokens, of length 1; a text may have none."""
        ...

    def passage_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of each passage's tokens, of length 1; a text may have none."""
        ...


@runtime_checkable
class CallingEmbedder(Embedder, Protocol):
    """An embedder that asks a server, and needs a way to it."""

    def with_calls(self, calls: Calls) -> Embedder:
        """Return the embedder with the way to servers that an experiment uses."""
        ...


@runtime_checkable
class ContextBuilder(Protocol):
    """The rule of one context setting: which passages a generator is shown, and in what order."""

    uses: ClassVar[frozenset[str]]
    """Of "gold", "noise" and "retrieved": what the rule reads. The rest is handed over empty."""

    @property
    def setting(self) -> str:
        """The canonical name, for example `gold+noise(3)`."""
        ...

    def build(
        self,
        query: Query,
        gold: GoldPassages,
        noise: NoisePassages,
        retrieved: RetrievedPassages,
    ) -> Context:
        """Return the context of one query under this setting."""
        ...


@runtime_checkable
class PartialBuilder(Protocol):
    """The rule of a setting that is not defined for every query."""

    def undefined(self, gold: int) -> str:
        """Say why it is not defined for a query with so many relevant passages; empty if it is."""
        ...


@runtime_checkable
class Processor(Protocol):
    """Shortens contexts between the context setting and the prompt."""

    def process(self, tasks: Sequence[Task]) -> Iterable[Context]:
        """Return one context per task, in order; passages may be shorter, fewer or none."""
        ...


@runtime_checkable
class CallingProcessor(Processor, Protocol):
    """A processor that asks a server, an embedding endpoint say, and needs a way to it."""

    def with_calls(self, calls: Calls) -> Processor:
        """Return the processor with the way to servers that an experiment uses."""
        ...


@runtime_checkable
class AskingProcessor(Protocol):
    """Shortens contexts by asking a model: the other kind of processor."""

    def ask(self, tasks: Sequence[Task], calls: Calls) -> Iterable[Processed]:
        """Return one context per task, in order; a failure keeps the passage as it came."""
        ...


@runtime_checkable
class Generator(Protocol):
    """Answers queries from their contexts.

    One that retrieves by itself has `may_retrieve: ClassVar[bool] = True`; the `passage_ids` of its
    predictions are then measured as a ranking.
    """

    def generate(self, tasks: Sequence[Task], calls: Calls) -> Iterator[Prediction]:
        """Yield one prediction per task, in order; a failure is a prediction with a reason."""
        ...


@runtime_checkable
class Metric(Protocol):
    """What every metric has: a name that round-trips, and what it needs to be computed.

    `ragstone.metrics` says how ranking metrics and answer metrics are called.
    """

    requires: ClassVar[frozenset[str]]
    """Of "qrels", "gold_answers", "context", "history"."""

    def __str__(self) -> str:
        """The canonical name: `str(parse_metric(name)) == name`."""
        ...


class Judge(Protocol):
    """A language model that grades; `str` of it is the name of its metric."""

    def judge(
        self, tasks: Sequence[Task], predictions: Sequence[Prediction], calls: Calls
    ) -> Sequence[Score]:
        """Return the scores of each prediction, one per metric of the judge.

        A verdict that could not be had is a score with a reason; one whose call failed says "the
        call failed", and is asked for again by the next run.
        """
        ...
