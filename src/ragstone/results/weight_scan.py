"""The text-weight scans of an experiment: systems that differ only in `text_weight`, by label.

A sweep such as `text_weight: [0, 0.05, 0.1, 0.2, 0.5, 1]` makes one system per weight. Their scores
per query are the input of `ragstone.statistics.weight_scan`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from ragstone.core import limits
from ragstone.core.spec import parse_spec, short_name
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.by_label import PLACES
from ragstone.results.reader import StoredResults
from ragstone.statistics.breakdown import TURNS, UNLABELLED, groups_of
from ragstone.statistics.weight_scan import LabelScan, scan_values
from ragstone.types import Query

_DEFAULT: Final = "R@5"
"""Metric of the scans in Know Your RAG (2024)."""


@dataclass(frozen=True)
class Sweep:
    """Systems whose rankings differ only in the text weight of their fusion."""

    name: str
    normalisation: str
    systems: Mapping[float, str]
    """Weight -> system, lowest weight first."""


@dataclass(frozen=True)
class ScanTable:
    """One sweep by one metric, broken down by one label."""

    sweep: Sweep
    metric: str
    label: str
    """Empty if there is only the row of all queries."""
    rows: tuple[LabelScan, ...]
    """All queries first."""

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of the sweep."""
        return tuple(self.sweep.systems)


def scan_tables(
    results: StoredResults, label: str | None = None, metric: str | None = None
) -> list[ScanTable]:
    """Return the text-weight scans of an experiment; none if no weight was swept.

    The default is one table per label of `labels_of`, by recall at 5 or else the first metric.
    Raises `ConfigError` if no query has the label, or if the metric was not measured.
    """
    return [table for sweep in sweeps(results) for table in _tables(results, sweep, label, metric)]


def require_scan_tables(
    results: StoredResults, label: str | None = None, metric: str | None = None
) -> list[ScanTable]:
    """Return `scan_tables`; raise `ConfigError` with an example of a sweep if there are none."""
    tables = scan_tables(results, label, metric)
    if not tables:
        raise ConfigError(
            f"no systems of {results.name!r} differ only in text_weight; for example: retriever: "
            f"{{name: fusion, retrievers: [bm25, dense], text_weight: [0, 0.05, 0.1, 0.2, 0.5, 1]}}"
        )
    return tables


def sweeps(results: StoredResults) -> list[Sweep]:
    """Return the groups of two or more systems whose rankings differ only in their text weight.

    Systems that differ only in later steps have the same ranking; the first of them is used.
    """
    ranked = {ranking.system for ranking in results.rankings}
    found: dict[str, dict[float, int]] = {}
    for place, system in enumerate(results.record.systems):
        retriever = system.components.get("retriever", {})
        parameters = dict(retriever.get("parameters", {}))
        weight = parameters.pop("text_weight", None)
        if weight is not None and system.name in ranked:
            others = [system.components.get(name) for name in ("query_former", "reranker")]
            key = json.dumps([others, retriever["component"], parameters])
            found.setdefault(key, {}).setdefault(weight, place)
    return [_sweep(results, sorted(places.items())) for places in found.values() if len(places) > 1]


def _sweep(results: StoredResults, places: Sequence[tuple[float, int]]) -> Sweep:
    systems, first = results.record.systems, places[0][1]
    entry = results.record.file["systems"][first]
    spec = parse_spec(entry["retriever"], where="retriever")
    others = {name: value for name, value in spec.parameters.items() if name != "text_weight"}
    steps = [entry["query_former"], {"name": spec.name, **others}, entry["reranker"]]
    return Sweep(
        " + ".join(short_name(step) for step in steps if step not in (None, "as-given")),
        systems[first].components["retriever"]["parameters"].get("normalisation") or "",
        {weight: systems[place].name for weight, place in places},
    )


def _tables(
    results: StoredResults, sweep: Sweep, label: str | None, metric: str | None
) -> Iterator[ScanTable]:
    runs = {run.system: run for run in results.rankings}
    swept = [runs[system] for system in sweep.systems.values()]
    measured = swept[0].scores
    chosen = metric or _metric(results, measured)
    if any(chosen not in run.scores for run in swept):
        raise ConfigError(f"rankings have no metric {chosen!r}{did_you_mean(chosen, measured)}")
    columns = [run.values(chosen) for run in swept]
    ids = [i for i in columns[0] if all(column.get(i) is not None for column in columns)]
    if not ids:
        return
    values = np.array([[column[i] for column in columns] for i in ids], np.float64)
    queries = [results.ranked[i] for i in ids]
    for name in [label] if label is not None else labels_of(queries) or [""]:
        groups = _groups(queries, name) if name else {}
        labelled = {i: tuple(v for v, members in groups.items() if i in members) for i in ids}
        yield ScanTable(
            sweep,
            chosen,
            name,
            scan_values(values, ids, list(sweep.systems), labelled, clusters=results.clusters),
        )


def _metric(results: StoredResults, measured: Iterable[str]) -> str:
    names = [name for name in measured if results.record.metric(name).direction == "higher"]
    return names[0] if names and _DEFAULT not in names else _DEFAULT


def labels_of(queries: Sequence[Query]) -> list[str]:
    """Return the labels that divide labelled queries into 2 to 12 groups; equal divisions once."""
    names = dict.fromkeys(name for query in queries for name in query.labels)
    if any("turn" in query.labels for query in queries):
        names[TURNS] = None
    found: dict[frozenset[frozenset[str]], str] = {}
    for name in names:
        groups = _groups(queries, name)
        if name not in PLACES and 1 < len(groups) <= limits.SCAN_LABEL_VALUES:
            found.setdefault(frozenset(map(frozenset, groups.values())), name)
    return list(found.values())


def _groups(queries: Sequence[Query], label: str) -> dict[str, set[str]]:
    groups = groups_of(queries, label).items()
    return {value: set(ids) for value, ids in groups if value != UNLABELLED}


def scan_document(tables: Iterable[ScanTable]) -> list[dict[str, Any]]:
    """Return scans as plain data, one row per sweep, label and value (`show --scan --json`)."""
    shared = ("best", "best_interval", "regret", "regret_interval", "held_out")
    return [
        {
            "sweep": table.sweep.name,
            "normalisation": table.sweep.normalisation,
            "metric": table.metric,
            "label": table.label,
            "value": row.label if place else None,
            "curve": [
                {"text_weight": weight, "system": system, **asdict(point)}
                for (weight, system), point in zip(
                    table.sweep.systems.items(), row.curve, strict=True
                )
            ],
            **{name: getattr(row, name) for name in shared},
            "p_value": row.p_value if place else None,
        }
        for table in tables
        for place, row in enumerate(table.rows)
    ]
