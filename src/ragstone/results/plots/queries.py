"""Plots of the queries themselves: how many have a label, and how labels go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ragstone.results.charts.amounts import amounts_chart
from ragstone.results.charts.bars import bars_chart
from ragstone.results.charts.heat_map import heat_map
from ragstone.results.charts.parts import MOST_SERIES, Spec
from ragstone.results.plots.request import PlotRequest
from ragstone.results.reader import StoredResults
from ragstone.statistics.breakdown import UNLABELLED, groups_of
from ragstone.statistics.proportions import share_interval
from ragstone.types import Query

Charts = Iterator[tuple[str, Spec]]
SOURCE: Final = ("source", "dataset", "domain", "collection")
"""Labels that name the data set that a query comes from, the best one first."""
TASKS: Final = ("question_type", "multi_turn", "answerability", "domain")
TAXONOMY: Final = ("taxonomy", "question_type")
ASKED: Final = ("asked_label", "evolution_type")
OBTAINED: Final = ("taxonomy",)
_OTHER: Final = "other values"


def by_source(request: PlotRequest) -> Charts:
    """Yield the number of queries per source data set (MIRAGE's Figure 3)."""
    for name, queries in _data(request):
        label = _first_label(queries, request.labels or SOURCE)
        if label:
            yield _amounts(name, label, queries)


def by_relevant_passages(request: PlotRequest) -> Charts:
    """Yield the number of queries per number of relevant passages (MIRAGE's Figure 4)."""
    for name, results in _sets(request):
        counts = Counter(
            sum(grade > 0 for grade in results.qrels.get(query, {}).values())
            for query in results.all_queries
        )
        if set(counts) - {0}:
            title = f"Queries of {name} by number of relevant passages"
            rows = {f"{count} relevant": counts[count] for count in sorted(counts)}
            yield title, amounts_chart(title, rows, sum(counts.values()))


def by_dimensions(request: PlotRequest) -> Charts:
    """Yield the number of queries per value of several labels (mtRAG's Figure 2)."""
    for name, queries in _data(request):
        for label in request.labels or TASKS:
            if _first_label(queries, [label]):
                yield _amounts(name, label, queries)


def composition(request: PlotRequest) -> Charts:
    """Yield the shares of a label's values, one bar per data set (Know Your RAG's Figure 1)."""
    rows: dict[str, dict[str, int]] = {}
    found = ""
    for name, queries in _data(request):
        label = _first_label(queries, request.labels or TAXONOMY)
        if label:
            found = label
            groups = groups_of(queries, label)
            rows[f"{name} (n={len(queries):,})"] = {v: len(ids) for v, ids in groups.items()}
    if rows:
        title = f"Composition by {found.replace('_', ' ')}"
        yield title, bars_chart(title, _fewer(rows))


def obtained_by_asked(request: PlotRequest) -> Charts:
    """Yield labels obtained per label asked (Know Your RAG's Figures 2 and 5)."""
    asked, obtained = (*request.labels, "", "")[:2]
    for name, queries in _data(request):
        first = _first_label(queries, [asked] if asked else ASKED)
        second = _first_label(queries, [obtained] if obtained else OBTAINED)
        if first and second:
            counted = _pairs(queries, first, second)
            rows = {f"{row} (n={sum(held.values()):,})": held for row, held in counted.items()}
            title = f"{name}: {second.replace('_', ' ')} by {first.replace('_', ' ')}"
            yield title, bars_chart(title, _fewer(rows))


def confusion(request: PlotRequest) -> Charts:
    """Yield one label against another, rows sum to 1 (Know Your RAG's Figure 4)."""
    if len(request.labels) != 2:  # noqa: PLR2004 - rows and columns
        raise request.missing(
            "it compares two labels of the queries",
            "name the label of people and that of the model: --label people --label taxonomy",
        )
    first, second = request.labels
    for name, queries in _data(request):
        both = [query for query in queries if first in query.labels and second in query.labels]
        if both:
            counted = _pairs(both, first, second)
            columns = list(dict.fromkeys(c for held in counted.values() for c in held))
            columns.sort(key=lambda one: list(counted).index(one) if one in counted else 99)
            cells = [
                _share(r, c, held[c], held.total()) for r, held in counted.items() for c in columns
            ]
            what = f"{name}: share of each {first} by {second}, with 95 % intervals"
            yield (
                f"{name}: {second} (columns) given {first} (rows)",
                heat_map(what, cells, low=0, high=1),
            )


def _share(row: str, column: str, count: int, n: int) -> Spec:
    low, high = share_interval(count, n)
    place = {"row": f"{row} (n={n:,})", "column": column, "value": count / n}
    note = f"{count} of {n}"
    numbers = {"low": low, "high": high, "count": count, "n": n, "failed": 0}
    return {**place, "shown": f"{count / n:.0%}", "note": note, **numbers}


def _amounts(name: str, label: str, queries: Sequence[Query]) -> tuple[str, Spec]:
    groups = groups_of(queries, label)
    counts = {value: len(ids) for value, ids in groups.items()}
    title = f"Queries of {name} by {label.replace('_', ' ')}"
    ordered = dict(sorted(counts.items(), key=lambda one: -one[1]))
    return title, amounts_chart(title, ordered, len(queries))


def _pairs(queries: Sequence[Query], first: str, second: str) -> dict[str, Counter[str]]:
    obtained = {query: value for value, ids in groups_of(queries, second).items() for query in ids}
    return {
        value: Counter(obtained[query] for query in ids)
        for value, ids in groups_of(queries, first).items()
    }


def _fewer(rows: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Return rows with at most as many parts as there are colours, the rarest ones together."""
    total: Counter[str] = Counter()
    for counts in rows.values():
        total.update(counts)
    most = [value for value, _ in total.most_common()]
    kept = most if len(most) <= MOST_SERIES else most[: MOST_SERIES - 1]
    found = {}
    for row, counts in rows.items():
        found[row] = {value: counts.get(value, 0) for value in kept}
        others = sum(counts.values()) - sum(found[row].values())
        if len(kept) < len(most):
            found[row][_OTHER] = others
    return found


def _first_label(queries: Sequence[Query], names: Sequence[str]) -> str:
    for name in names:
        if any(name in query.labels for query in queries):
            found = set(groups_of(queries, name))
            if found != {UNLABELLED}:
                return name
    return ""


def _data(request: PlotRequest) -> Iterator[tuple[str, list[Query]]]:
    for name, results in _sets(request):
        yield name, list(results.all_queries.values())


def _sets(request: PlotRequest) -> Iterator[tuple[str, StoredResults]]:
    """Yield each data set once, whatever the number of its experiments."""
    seen: set[tuple[str, str]] = set()
    for _, results in request.experiments():
        record = results.record
        if (key := (record.data.name, record.tables.ranked)) not in seen:
            seen.add(key)
            yield record.data.name, results
