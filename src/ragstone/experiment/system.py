"""Systems under test, the inputs that they share, and the steps of a ranking and of a trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.components.context_settings.system import OwnContext
from ragstone.core.stored_table import StoredTable
from ragstone.experiment.datastores import Datastore
from ragstone.experiment.repeat_spec import ONCE, RepeatCounts
from ragstone.types import one_line

if TYPE_CHECKING:
    from ragstone.experiment.shared_queries import OwnQueries
    from ragstone.experiment.steps import Step
    from ragstone.protocols import (
        ContextSetting,
        Generator,
        Judge,
        Processor,
        QueryFormer,
        Reranker,
        Retriever,
    )


@dataclass(frozen=True)
class System:
    """A pipeline under test: one component per step; None skips the step."""

    name: str
    """The name in the experiment file, with swept values in brackets."""
    query_former: QueryFormer
    """Forms the search text."""
    retriever: Retriever | None = None
    """Ranks passages."""
    reranker: Reranker | None = None
    """Orders the first passages again."""
    processor: Processor | None = None
    """Shortens or translates the context."""
    generator: Generator | None = None
    """Answers."""
    repeats: RepeatCounts = ONCE
    """Numbers of answers to each query, and of verdicts on each answer."""
    datastore: str = ""
    """The collections that the retriever searches; "" for the query's own, or all passages."""

    __repr__ = one_line

    @property
    def may_retrieve(self) -> bool:
        """Whether the system may retrieve by itself and report the passages."""
        return self.retriever is None and self.generator is not None and self.generator.may_retrieve

    def answers_under(self, setting: ContextSetting) -> bool:
        """Return whether the system answers, and has the parts that make the setting's contexts."""
        if isinstance(setting, OwnContext):
            return self.may_retrieve
        return bool(self.generator and ("retrieved" not in setting.uses or self.retriever))

    @property
    def release(self) -> str:
        """The declared version of the system that answers, or ""."""
        return self.generator.declared_release if self.generator else ""

    @property
    def components(self) -> dict[str, Any]:
        """The components by the keys of the experiment file."""
        parts = {
            "query_former": self.query_former,
            "retriever": self.retriever,
            "reranker": self.reranker,
            "processor": self.processor,
            "generator": self.generator,
        }
        return {name: part for name, part in parts.items() if part is not None}


@dataclass(frozen=True)
class SharedInputs:
    """The tables and components that all systems of an experiment share."""

    passages: StoredTable
    labelled: StoredTable
    """The passages with their labels."""
    qrels: StoredTable
    answered: StoredTable
    """The queries that generators answer."""
    ranked: StoredTable
    """The queries that retrievers are measured on: the same ones, or all of the data set."""
    collections: StoredTable | None = None
    """The collection of each query; None if all queries search all passages."""
    datastores: Mapping[str, Datastore] = field(default_factory=dict)
    """The collections and judgements of each datastore of a system."""
    noise: System | None = None
    """The system whose best irrelevant passages are the noise of `gold+noise`."""
    judges: tuple[Judge, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Why queries are not answered under any setting -> number of queries."""
    own: Mapping[str, OwnQueries] = field(default_factory=dict)
    """Setting -> its queries, if it does not apply to all answered ones."""
    listed: str = ""
    """Digest of the ids of `sample.queries`; "" without that key."""
    parts: Mapping[tuple[str, str], OwnQueries] = field(default_factory=dict)
    """(setting, system) -> the queries that an adaptive run asks it."""

    @property
    def not_applicable(self) -> dict[str, dict[str, int]]:
        """Setting -> why it does not apply to some queries -> number of queries."""
        return {name: dict(Counter(o.not_applicable.values())) for name, o in self.own.items()}

    def own_of(self, setting: str, system: str = "") -> OwnQueries | None:
        """Return the queries of a setting, or of one system under it; None for all answered."""
        return self.parts.get((setting, system)) or self.own.get(setting)

    def datastore(self, system: System) -> Datastore:
        """Return what a system searches, and its judgements."""
        return self.datastores.get(system.datastore) or Datastore(self.collections, self.qrels)

    def asked(self, setting: str, system: str = "") -> StoredTable:
        """Return the queries that are answered under a setting, by one system if it has a part."""
        own = self.own_of(setting, system)
        return own.table if own else self.answered


@dataclass(frozen=True)
class RankingSteps:
    """The steps that measure a system's retrieval."""

    system: System
    run: Step
    scores: Step
    searches: Step | None = None
    """The search texts; None if the system retrieves by itself."""


@dataclass(frozen=True)
class RepeatSteps:
    """The steps of one answer to each query, and of one verdict of each judge on it."""

    answer: int
    """The number of the answer, from 0."""
    verdict: int
    contexts: Step
    predictions: Step
    scores: Step
    verdicts: tuple[Step, ...]
    """The scores of each judge."""


@dataclass(frozen=True)
class Trial:
    """The steps of one system under one setting."""

    system: System
    setting: ContextSetting
    built: Step
    """The contexts as the setting builds them."""
    contexts: Step
    """The contexts that the generator is shown: the same step if nothing processes them."""
    predictions: Step
    scores: Step
    verdicts: tuple[Step, ...]
    """The scores of each judge."""
    reported: RankingSteps | None = None
    """The passages that a system reported with its answers, measured as a ranking."""
    hops: Step | None = None
    """The searches that a system reported, if its own context is measured."""
    repeats: tuple[RepeatSteps, ...] = ()
    """The further answers and verdicts; the fields above are those of the first."""

    @property
    def every_predictions(self) -> list[Step]:
        """The steps of all answers, each once."""
        further = (repeat.predictions for repeat in self.repeats)
        return list(dict.fromkeys((self.predictions, *further)))

    @property
    def last_steps(self) -> Iterator[Step]:
        """The scores and verdicts of all repeats."""
        yield from (self.scores, *self.verdicts)
        for one in self.repeats:
            yield from (one.scores, *one.verdicts)
