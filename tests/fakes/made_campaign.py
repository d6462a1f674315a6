"""Records of made-up experiments with chosen systems and values, for tests of joined tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.schemas import (
    CLUSTERS,
    QRELS,
    contexts_to_table,
    predictions_to_table,
    queries_to_table,
    rankings_to_table,
    scores_to_table,
    to_table,
)
from ragstone.core.spec import short_name
from ragstone.core.store import Store
from ragstone.errors import ConfigError
from ragstone.results.data_facts import DataFacts, Tables
from ragstone.results.reader import StoredResults
from ragstone.results.record import (
    MetricEntry,
    RankingEntry,
    Record,
    SystemEntry,
    TrialEntry,
)
from ragstone.types import Context, ContextPassage, Label, Prediction, Query, Ranking, Score, Status

if TYPE_CHECKING:
    from arro3.core import Table

Value = Callable[[Mapping[str, Any], str, str, int], float | None]
"""Entry of the system, setting ("" for rankings), metric, place of the query -> value or None."""
ENTRY: Final = {"query_former": "as-given", "retriever": None, "reranker": None, "generator": None}
_RANKING: Final = ("nDCG", "R", "MRR", "P", "MAP", "hit")


def made_experiment(
    root: Path,
    name: str,
    systems: Sequence[Mapping[str, Any]],
    value: Value,
    *,
    settings: Sequence[str] = ("none", "gold", "retrieved(5)"),
    metrics: Sequence[str] = ("Match", "nDCG@10"),
    queries: int = 40,
    data: str = "",
    campaign: str = "",
    labels: Callable[[int], Mapping[str, Label]] = lambda _: {},
    factors: Mapping[str, str] | None = None,
    **more: Any,
) -> StoredResults:
    """Return the stored results of systems, given by their entries in an experiment file.

    `more` are keys of the experiment file, such as `headline`.
    """
    store = Store(root)
    data = data or name
    prefix = data.partition("#")[0]
    asked = [
        Query(f"{prefix}-{n}", f"Query {n}?", ("yes",), labels=dict(labels(n)))
        for n in range(queries)
    ]
    kinds = {m: "ranking" if m.partition("@")[0] in _RANKING else "answer" for m in metrics}
    makers = [
        _Maker(store, _name(entry), entry, asked, kinds, value)
        for entry in ({**ENTRY, "name": None, **one} for one in systems)
    ]
    record = Record(
        name=name,
        started="2026-03-02T10:00:00+00:00",
        finished="2026-03-02T10:04:31+00:00",
        file={
            "name": name,
            "data": data,
            "correct": "Match",
            "systems": [one.entry for one in makers],
            **more,
        },
        data=DataFacts(data, 5, queries, queries, queries, "0" * 64, factors=factors or {}),
        tables=_tables(makers[0]),
        systems=tuple(SystemEntry(one.system, {}) for one in makers),
        metrics=tuple(_entry(metric, kinds[metric]) for metric in metrics),
        environment={},
        ragstone="0.1.0",
        rankings=tuple(one.ranking() for one in makers if one.entry["retriever"]),
        trials=tuple(
            one.trial(setting) for one in makers for setting in settings if one.entry["generator"]
        ),
        campaign=campaign,
        prompts={one.system: {"label": _prompt(one.entry["generator"])} for one in makers},
    )
    record.save(store)
    return StoredResults(store, record)


def _entry(name: str, kind: str) -> MetricEntry:
    """Return a metric; a name that no metric has is one of a judge."""
    if kind == "ranking":
        return MetricEntry(name, "ranking")
    try:
        metric = parse_metric(name)
    except ConfigError:
        return MetricEntry(name, "judge")
    return MetricEntry(name, "answer", metric.direction, metric.range)


def _name(entry: Mapping[str, Any]) -> str:
    former = entry["query_former"]
    parts = [former if former != "as-given" else None]
    parts += [entry[key] for key in ("retriever", "reranker", "generator")]
    return str(entry["name"] or " + ".join(short_name(part) for part in parts if part))


@dataclass(frozen=True)
class _Maker:
    """Keeps the tables of one system."""

    store: Store
    system: str
    entry: Mapping[str, Any]
    asked: Sequence[Query]
    kinds: Mapping[str, str]
    value: Value

    def ranking(self) -> RankingEntry:
        """Keep a run and its scores."""
        ids = [query.query_id for query in self.asked]
        run = rankings_to_table(ids, [Ranking(["p"], [1.0]) for _ in ids])
        folders = self.kept("retrieve", run), self.kept("score-ranking", self.scores("", "ranking"))
        return RankingEntry(self.system, *folders)

    def trial(self, setting: str) -> TrialEntry:
        """Keep the contexts, the answers and the scores under a setting."""
        shown = (ContextPassage("p", "text", "gold"),)
        contexts = contexts_to_table([Context(q.query_id, setting, shown) for q in self.asked])
        answers = predictions_to_table([Prediction(q.query_id, "yes") for q in self.asked])
        built = self.kept("context", contexts)
        return TrialEntry(
            self.system,
            setting,
            built,
            built,
            self.kept("generate", answers),
            self.kept("score-answer", self.scores(setting, "answer")),
        )

    def kept(self, step: str, table: Table) -> str:
        """Store a table and return the name of its folder."""
        folder = self.store.keep(step, table).folder
        assert folder is not None
        return folder.name

    def scores(self, setting: str, kind: str) -> Table:
        """Return the scores of all metrics of one kind; a value of None is a failure."""
        found = []
        for metric in (name for name, of in self.kinds.items() if of == kind):
            for place, query in enumerate(self.asked):
                value = self.value(self.entry, setting, metric, place)
                status: Status = "failed" if value is None else "scored"
                found.append(Score(query.query_id, metric, value, status))
        return scores_to_table(found)


def _tables(maker: _Maker) -> Tables:
    ids = [query.query_id for query in maker.asked]
    kept = maker.kept("queries", queries_to_table(maker.asked))
    judged: dict[str, list[Any]] = {
        "query_id": ids,
        "passage_id": ["p"] * len(ids),
        "relevance": [1] * len(ids),
    }
    clusters = {"query_id": ids, "cluster": ids}
    return Tables(
        answered=kept,
        ranked=kept,
        qrels=maker.kept("qrels", to_table(QRELS, judged)),
        clusters=maker.kept("clusters", to_table(CLUSTERS, clusters)),
    )


def _prompt(generator: Any) -> str:
    """Return the name of a generator's prompt."""
    written = generator if isinstance(generator, Mapping) else {}
    return "texts~3f2a" if "user" in written else str(written.get("prompt", "instruction"))
