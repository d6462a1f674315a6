"""The record of an experiment: which kept steps its numbers are made of.

One JSON document per experiment name, written anew after every trial, so that a run that was
stopped can be looked at. It holds names of folders in the store, and no number that could be
computed from them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.environment import describe_environment
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.schemas import CLUSTERS, TEXTS, table_to_rankings, to_table
from ragstone.results.wording import FORMAT, KIND
from ragstone.version import __version__

if TYPE_CHECKING:
    from ragstone.core.store import StoredTable
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.system import Bench, System, Trial
    from ragstone.types import Query

TEXT_PLACES: Final = 5
"""Places of a ranking whose passages are kept with the results, for reports to show."""
TEXT_QUERIES: Final = 500
"""Queries, from the first, for which that is done."""
_TEXT_LENGTH: Final = 600
"""Characters of such a passage at most: a report holds thousands of them."""


class Record:
    """Writes an experiment's record as its trials end."""

    def __init__(
        self, file: ExperimentFile, dataset: Dataset, systems: Sequence[System], bench: Bench
    ) -> None:
        self._store, self._dataset = bench.store, dataset
        asked = bench.answered.table.column("query_id").to_pylist()[:TEXT_QUERIES]
        self._asked = dict.fromkeys(asked)
        self._shown = {p: None for q in asked for p, g in dataset.qrels.get(q, {}).items() if g > 0}
        self._document: dict[str, Any] = {
            "format": FORMAT,
            "name": file.name,
            "started": _now(),
            "finished": None,
            "file": file.model_dump(),
            "data": {
                "name": dataset.name,
                "passages": len(dataset.corpus),
                "queries": len(dataset.queries),
                "ranked": bench.ranked.table.num_rows,
                "answered": bench.answered.table.num_rows,
                "left_out": dict(bench.left_out),
                "corpus_digest": dataset.corpus.digest,
            },
            "tables": {
                "answered": folder_name(bench.answered),
                "ranked": folder_name(bench.ranked),
                "qrels": folder_name(bench.qrels),
                "clusters": folder_name(_keep_clusters(dataset, bench)),
            },
            "systems": [{"name": s.name, "components": _recipes(s)} for s in systems],
            "rankings": [],
            "trials": [],
            "environment": describe_environment(),
            "ragstone": __version__,
        }
        self._write()

    def add_ranking(
        self, system: System, run: StoredTable, scores: StoredTable, searches: str = ""
    ) -> None:
        """Note a system's run and its scores, and the folder of what it searched for."""
        for query_id, ranking in table_to_rankings(run.table).items():
            if query_id in self._asked:
                self._shown |= dict.fromkeys(ranking.passage_ids[:TEXT_PLACES])
        entry = {"system": system.name, "run": folder_name(run), "scores": folder_name(scores)}
        entry |= {"searches": searches} if searches else {}
        self._document["rankings"].append(entry)
        self._write()

    def add_trial(self, trial: Trial) -> None:
        """Note a finished trial."""
        entry = {
            "system": trial.system,
            "setting": trial.setting,
            "built": folder_name(trial.built),
            "contexts": folder_name(trial.contexts),
            "predictions": folder_name(trial.predictions),
            "scores": folder_name(trial.scores),
            "verdicts": [folder_name(kept) for kept in trial.verdicts],
        }
        self._document["trials"].append(entry)
        self._write()

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Note that all trials ended, with what this run of the experiment took."""
        corpus = self._dataset.corpus
        texts = {p: _cut(corpus[p].full_text) for p in self._shown if p in corpus}
        table = to_table(TEXTS, {"passage_id": list(texts), "text": list(texts.values())})
        self._document["tables"]["texts"] = folder_name(self._store.keep("texts", table))
        self._document |= {"finished": _now(), "last_run": dict(facts)}
        self._write()

    def _write(self) -> None:
        self._document["steps"] = list(dict.fromkeys(self._store.used))
        self._store.write_json(KIND, self._document["name"], self._document)


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_LENGTH else f"{text[:_TEXT_LENGTH]} [...]"


def folder_name(kept: StoredTable) -> str:
    """Return the name of a kept table's folder in the store."""
    return kept.folder.name if kept.folder else ""


def _keep_clusters(dataset: Dataset, bench: Bench) -> StoredTable:
    """Keep which queries hang together: turns of a conversation, questions on one document.

    Their scores are not independent, and an interval that takes them for independent is too narrow.
    """
    named = {query.query_id: _cluster(dataset, query) for query in dataset.queries}
    table = to_table(CLUSTERS, {"query_id": list(named), "cluster": list(named.values())})
    return bench.store.keep("clusters", table)


def _cluster(dataset: Dataset, query: Query) -> str:
    if "conversation" in query.labels:
        return f"conversation {query.labels['conversation']}"
    grades = dataset.qrels.get(query.query_id, {})
    best = max(grades, key=lambda passage_id: grades[passage_id], default="")
    document = dataset.corpus[best].document_id if best in dataset.corpus else ""
    return f"document {document}" if document else f"query {query.query_id}"


def _recipes(system: System) -> dict[str, Any]:
    steps = {
        "query": system.former,
        "retriever": system.retriever,
        "reranker": system.reranker,
        "processor": system.processor,
        "generator": system.generator,
    }
    return {
        name: cache_key_parts(component)
        for name, component in steps.items()
        if component is not None
    }


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
