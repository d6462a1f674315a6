"""The text-weight scans of an experiment: systems that differ in `text_weight` alone, by label.

A sweep such as `text_weight: [0, 0.05, 0.1, 0.2, 0.5, 1]` makes one system a weight; what each
scored per query is all that `ragstone.statistics.weight_scan` needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core import limits
from ragstone.core.spec import parse_spec, short_name
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.by_label import PLACES
from ragstone.statistics.breakdown import TURNS, UNLABELLED, groups_of
from ragstone.statistics.weight_scan import LabelScan, scan_values

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults
    from ragstone.results.record import SystemEntry
    from ragstone.types import Query

_USUAL: Final = "R@5"
"""The metric of the paper that scans weights."""


@dataclass(frozen=True)
class Sweep:
    """Systems that rank alike but for the text weight of their fusion."""

    name: str
    normalisation: str
    systems: Mapping[float, str]
    """Weight -> system, from the lowest weight on."""


@dataclass(frozen=True)
class ScanTable:
    """One sweep by one metric, taken apart by one label."""

    sweep: Sweep
    metric: str
    label: str
    """Empty where all queries stand together."""
    rows: tuple[LabelScan, ...]
    """All queries first."""

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights that were scanned."""
        return tuple(self.sweep.systems)


def scan_tables(
    results: StoredResults, label: str | None = None, metric: str | None = None
) -> list[ScanTable]:
    """Return the text-weight scans of an experiment; empty where no weight was swept.

    Without a label, one table for every label that sorts the queries into two to twelve kinds.
    Without a metric, recall at 5, else the first one.

    Raises:
        ConfigError: no query has the label, or nothing was measured by the metric.
    """
    return [table for sweep in sweeps(results) for table in _tables(results, sweep, label, metric)]


def asked_tables(
    results: StoredResults, label: str | None = None, metric: str | None = None
) -> list[ScanTable]:
    """Return `scan_tables`; raise `ConfigError` that says how to sweep where there are none."""
    tables = scan_tables(results, label, metric)
    if not tables:
        raise ConfigError(
            f"no systems of {results.name!r} differ in text_weight alone; for example: retriever: "
            f"{{name: fusion, retrievers: [bm25, dense], text_weight: [0, 0.05, 0.1, 0.2, 0.5, 1]}}"
        )
    return tables


def sweeps(results: StoredResults) -> list[Sweep]:
    """Return the groups of two or more systems that differ in their text weight alone.

    Two systems that differ in what comes after the ranking have the same ranking; the first counts.
    """
    ranked = {ranking.system for ranking in results.rankings}
    found: dict[str, dict[float, int]] = {}
    for place, system in enumerate(results.record.systems):
        parameters = dict(_retriever(system).get("parameters", {}))
        weight = parameters.pop("text_weight", None)
        if weight is not None and system.name in ranked:
            kept = {name: system.components.get(name) for name in ("query_former", "reranker")}
            made_of = json.dumps([kept, _retriever(system)["component"], parameters])
            found.setdefault(made_of, {}).setdefault(weight, place)
    return [_sweep(results, sorted(held.items())) for held in found.values() if len(held) > 1]


def _retriever(system: SystemEntry) -> Mapping[str, Any]:
    found: Mapping[str, Any] = system.components.get("retriever", {})
    return found


def _sweep(results: StoredResults, places: Sequence[tuple[float, int]]) -> Sweep:
    systems = results.record.systems
    entry = results.record.file["systems"][places[0][1]]
    spec = parse_spec(entry["retriever"], where="retriever")
    others = {name: value for name, value in spec.parameters.items() if name != "text_weight"}
    steps = [entry["query_former"], {"name": spec.name, **others}, entry["reranker"]]
    return Sweep(
        " + ".join(short_name(step) for step in steps if step not in (None, "as-given")),
        _retriever(systems[places[0][1]])["parameters"].get("normalisation") or "",
        {weight: systems[place].name for weight, place in places},
    )


def _tables(
    results: StoredResults, sweep: Sweep, label: str | None, metric: str | None
) -> Iterable[ScanTable]:
    scores = {r.system: r.scores for r in results.rankings}
    columns = [scores[system] for system in sweep.systems.values()]
    chosen = metric or _metric(results, columns[0])
    if any(chosen not in held for held in columns):
        raise ConfigError(
            f"rankings were not measured by {chosen!r}{did_you_mean(chosen, columns[0])}"
        )
    by_query = [{i: s.value for i, s in held[chosen].items()} for held in columns]
    ids = [i for i in by_query[0] if all(held.get(i) is not None for held in by_query)]
    if not ids:
        return
    values = np.array([[held[i] for held in by_query] for i in ids], np.float64)
    queries = [results.ranked[i] for i in ids]
    for name in [label] if label is not None else labels_of(queries) or [""]:
        groups = _groups(queries, name) if name else {}
        labelled = {i: tuple(v for v, held in groups.items() if i in held) for i in ids}
        yield ScanTable(
            sweep,
            chosen,
            name,
            scan_values(values, ids, list(sweep.systems), labelled, clusters=results.clusters),
        )


def _metric(results: StoredResults, measured: Iterable[str]) -> str:
    names = [name for name in measured if results.record.metric(name).direction == "higher"]
    return _USUAL if _USUAL in names else (names or [_USUAL])[0]


def labels_of(queries: Sequence[Query]) -> list[str]:
    """Return the labels that sort some queries into two to twelve kinds, each sorting once."""
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
            "best": row.best,
            "best_interval": row.best_interval,
            "regret": row.regret,
            "regret_interval": row.regret_interval,
            "held_out": row.held_out,
            "p_value": row.p_value if place else None,
        }
        for table in tables
        for place, row in enumerate(table.rows)
    ]
