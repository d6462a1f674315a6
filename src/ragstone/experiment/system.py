"""What the steps of a trial work with and make: a system, what trials share, their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ragstone.core.store import Store, StoredTable

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import (
        AskingFormer,
        AskingProcessor,
        AskingReranker,
        Generator,
        Judge,
        Processor,
        QueryFormer,
        Reranker,
        Retriever,
    )


@dataclass(frozen=True)
class System:
    """A pipeline under test: one component a step; a step that is None is left out."""

    name: str
    former: QueryFormer | AskingFormer
    retriever: Retriever | None = None
    reranker: Reranker | AskingReranker | None = None
    processor: Processor | AskingProcessor | None = None
    generator: Generator | None = None


@dataclass(frozen=True)
class Bench:
    """What the trials of an experiment share."""

    store: Store
    calls: Calls
    corpus: Corpus
    qrels: StoredTable
    answered: StoredTable
    """The queries that generators answer."""
    ranked: StoredTable
    """The queries that retrievers are measured on: the same ones, or all of the data set."""
    noise: System | None = None
    """Whose best irrelevant passages are the noise of `gold+noise`."""
    judges: tuple[Judge, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Why queries are not answered under any setting -> how many."""

    @cached_property
    def passages(self) -> StoredTable:
        """The corpus as an input of steps."""
        return StoredTable(self.corpus.digest, memory=self.corpus.table)


@dataclass(frozen=True)
class Trial:
    """The kept results of one system under one setting."""

    system: str
    setting: str
    built: StoredTable
    """The CONTEXTS as the setting built them."""
    contexts: StoredTable
    """The CONTEXTS that the generator was shown: the same ones where nothing processes them."""
    predictions: StoredTable
    scores: StoredTable
    verdicts: tuple[StoredTable, ...] = ()
    """The SCORES of each judge."""
