"""A system that answers new queries as they come, such as the turns of a live conversation.

Its steps are those of an experiment, computed without a store; replies of models are kept as ever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.components.live_reply import LiveReply
from ragstone.components.query_formers.as_given import AsGiven
from ragstone.components.retrievers.bm25 import BM25
from ragstone.core.parsing import parse_yaml
from ragstone.core.schemas import (
    QRELS,
    columns,
    queries_to_table,
    table_to_contexts,
    table_to_predictions,
    table_to_rankings,
    to_table,
)
from ragstone.core.stored_table import StoredTable
from ragstone.errors import ConfigError, did_you_mean
from ragstone.experiment.load import load_experiment
from ragstone.experiment.metric_set import metric_sets
from ragstone.experiment.starter import Starter
from ragstone.experiment.step_list import StepList
from ragstone.experiment.step_work import StepWork
from ragstone.experiment.system import SharedInputs, System
from ragstone.protocols import Services
from ragstone.types import Context, Query, Ranking

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus
    from ragstone.experiment.experiment import Experiment
    from ragstone.protocols import ContextSetting

_FILE: Final = re.compile(r"(?P<path>.+\.ya?ml)(?::(?P<name>.+))?")
_RUN: Final = "live"


@dataclass(frozen=True)
class LiveSystem:
    """A system under one context setting, with its corpus.

    Args:
        system: the components.
        setting: the context setting; it needs no judgements.
        corpus: the passages that the system searches.
    """

    system: System
    setting: ContextSetting
    corpus: Corpus

    @classmethod
    def load(cls, written: str, corpus: str) -> LiveSystem:
        """Return the system of `EXPERIMENT.yaml:NAME`, `my_rag.py:answer`, or an address.

        Args:
            written: the system. An experiment's system has the experiment's own data and its first
                setting without judgements; any other one answers by itself.
            corpus: the data set of a system that is not an experiment's.

        Raises:
            ConfigError: there is no such system, or no setting fits.
        """
        found = _FILE.fullmatch(written)
        if written.startswith(("http://", "https://")):
            made = load_experiment(_of_service(written, corpus))
            return cls._of(made, made.systems[0])
        if found is None:
            text = Starter(written, corpus, Path("live.yaml"), metrics=("Match",)).text
            made = load_experiment(parse_yaml(text.encode()))
            return cls._of(made, made.systems[0])
        made = load_experiment(Path(found["path"]))
        return cls._of(made, _named(made, found["name"], written))

    @classmethod
    def _of(cls, made: Experiment, system: System) -> LiveSystem:
        fitting = [
            setting
            for setting in made.settings
            if system.answers_under(setting) and not setting.uses & {"gold", "noise"}
        ]
        if not fitting:
            raise ConfigError(
                f"the system {system.name!r} answers under no setting without judgements; a live "
                "conversation has none: add retrieved(5), none or system to the settings"
            )
        generator = system.generator
        if generator is not None and generator.asks_again:
            # The kept replies belong to the folder of this build, so that it can be resumed.
            system = replace(system, generator=generator.of_run(_RUN))
        return cls(system, fitting[0], made.dataset.corpus)

    @property
    def shows(self) -> int:
        """Maximum number of retrieved passages behind an answer."""
        return self.setting.shows

    @property
    def own_words(self) -> str:
        """The texts of the generator's prompt, which an answer must not repeat."""
        generator = self.system.generator
        return "\n".join(generator.templates.values()) if generator else ""

    def check(self, services: Services) -> None:
        """Raise if a component cannot work here."""
        own = self._services(services)
        for part in self.system.components.values():
            part.check(own)

    def reply(self, queries: Sequence[Query], services: Services) -> list[LiveReply]:
        """Return one reply per query, in order; one without an answer has a reason.

        Args:
            queries: the queries, each with its history; ids are unique.
            services: the services that make the model calls.
        """
        if not queries:
            return []
        steps = self._steps(queries)
        (trial,) = steps.trials
        work = StepWork(self._services(services))
        predictions = {p.query_id: p for p in table_to_predictions(work.table(trial.predictions))}
        contexts = {c.query_id: c for c in table_to_contexts(work.table(trial.contexts))}
        searches: Mapping[str, str] = {}
        if steps.rankings and steps.rankings[0].searches:
            found = columns(work.table(steps.rankings[0].searches))
            searches = dict(zip(found["query_id"], found["text"], strict=True))
        return [
            LiveReply(
                predictions[query.query_id],
                contexts.get(query.query_id) or Context(query.query_id, self.setting.setting),
                searches.get(query.query_id, ""),
            )
            for query in queries
        ]

    def search(self, text: str, services: Services) -> Ranking:
        """Return the ranking of the system's retriever for a text; BM25's if it has none."""
        retriever = self.system.retriever or BM25()
        searching = System("search", AsGiven(), retriever, self.system.reranker)
        steps = self._list([Query(_RUN, text)])
        steps.add_ranking(searching)
        work = StepWork(self._services(services))
        return table_to_rankings(work.table(steps.rankings[0].run)).get(_RUN) or Ranking()

    def _services(self, services: Services) -> Services:
        return Services(calls=services.calls, store=self.corpus.store, corpus=self.corpus)

    def _list(self, queries: Sequence[Query]) -> StepList:
        asked = StoredTable.in_memory(queries_to_table(list(queries)))
        passages, labelled = self._passages
        none = StoredTable.in_memory(to_table(QRELS, {name: [] for name in QRELS.names}))
        shared = SharedInputs(passages, labelled, none, asked, asked)
        return StepList(shared, *metric_sets(()))

    def _steps(self, queries: Sequence[Query]) -> StepList:
        steps = self._list(queries)
        if self.system.retriever is not None:
            steps.add_ranking(self.system)
        steps.add_trial(self.system, self.setting)
        return steps

    @cached_property
    def _passages(self) -> tuple[StoredTable, StoredTable]:
        corpus = self.corpus
        return (
            StoredTable(corpus.content_digest, memory=corpus.unlabelled.table),
            StoredTable(corpus.digest, memory=corpus.table),
        )


def _of_service(url: str, corpus: str) -> dict[str, Any]:
    """Return the experiment of a service, which is sent the earlier messages too."""
    body = {"query": "{query}", "history": "{history}"}
    return {
        "data": corpus,
        "systems": {"service": {"generator": {"name": "http", "url": url, "body": body}}},
        "settings": ["system"],
        "metrics": ["Match"],
    }


def _named(made: Experiment, name: str | None, written: str) -> System:
    systems = {system.name: system for system in made.systems}
    if name is None and len(systems) == 1:
        return next(iter(systems.values()))
    if name not in systems:
        raise ConfigError(
            f"{written!r} names no system of the experiment{did_you_mean(name or '', systems)}; it "
            f"has {', '.join(systems)}: write FILE.yaml:NAME",
            value=written,
        )
    return systems[name]
