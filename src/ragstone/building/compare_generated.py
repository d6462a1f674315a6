"""Comparison of generated test sets, after figures 2, 3 and 5 of Know Your RAG.

One picture shows the fates of the items tried, labels asked against labels obtained, critique
profiles and the cost per kept item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragstone.building.write import SUMMARY
from ragstone.data.readers.rows import json_document
from ragstone.errors import DatasetError
from ragstone.results.charts.bars import bars_chart
from ragstone.results.charts.heat_map import heat_map
from ragstone.results.charts.parts import BAR_ROW, SERIES, Spec, column, row_axis, row_names, whole


@dataclass(frozen=True)
class GeneratedSet:
    """A generated test set: the name of its folder and its summary."""

    name: str
    summary: Mapping[str, Any]


def read_generated(folder: Path) -> GeneratedSet:
    """Return the summary of a generated test set; raise `DatasetError` if there is none."""
    path = folder / SUMMARY
    if not path.is_file():
        raise DatasetError(
            f"{folder} has no {SUMMARY}; make a test set there: ragstone data generate"
        )
    summary = json_document(path)
    if not isinstance(summary, dict) or "asked_against_obtained" not in summary:
        raise DatasetError(f"{path} is not the summary of a generated test set")
    return GeneratedSet(folder.resolve().name, summary)


def fates(summary: Mapping[str, Any]) -> dict[str, int]:
    """Return how many items were kept, and how many each step rejected.

    >>> fates({"kept": {"summary": 2}, "rejected": {"facts: the model refused": 1}})
    {'kept': 2, 'facts': 1}
    """
    found = Counter({"kept": sum(summary["kept"].values())})
    for reason, count in summary["rejected"].items():
        step = reason.partition(":")[0]
        found["repeated" if "repeats the question" in step else step] += count
    return {name: count for name, count in found.items() if count}


def comparison_chart(sets: Sequence[GeneratedSet]) -> Spec:
    """Return the picture; a part without data is left out of it."""
    if len({one.name for one in sets}) < len(sets):
        sets = [replace(one, name=f"{place}. {one.name}") for place, one in enumerate(sets, 1)]
    asked = {
        f"{one.name}: {label}": counts
        for one in sets
        for label, counts in one.summary["asked_against_obtained"].items()
    }
    charts = {
        "Items tried: kept, or the step that rejected them": _shares(
            "Items tried", {one.name: fates(one.summary) for one in sets}
        ),
        "Labels obtained, by label asked": _shares("Labels obtained", asked),
        "Mean critique ratings from 1 to 5, and their number": _ratings(sets),
        "Tokens to write a kept item": _costs(sets),
    }
    return column({title: chart for title, chart in charts.items() if chart})


def _shares(what: str, rows: Mapping[str, Mapping[str, int]]) -> Spec | None:
    """Return stacked bars of the rows that count something, or None."""
    rows = {f"{name} (n={n:,})": row for name, row in rows.items() if (n := sum(row.values()))}
    return bars_chart(what, rows, shown="count") if rows else None


def _ratings(sets: Sequence[GeneratedSet]) -> Spec | None:
    cells = [
        {
            "row": f"{one.name}: {label}",
            "column": name.replace("_", " "),
            "value": rating,
            "shown": f"{rating:.2f}",
            "note": f"({count})" if (count := read.get(name)) is not None else "",
        }
        for one in sets
        for label, ratings in one.summary["ratings"].items()
        for read in [one.summary.get("ratings_read", {}).get(label, {})]
        for name, rating in ratings.items()
    ]
    return heat_map("Mean critique ratings", cells, low=1, high=5) if cells else None


def _costs(sets: Sequence[GeneratedSet]) -> Spec:
    """Return one bar per set: tokens per kept item, or its total cost as text without one."""
    values = [
        {"row": f"{one.name}: {_cost(one.summary)}", "tokens": one.summary["tokens_per_kept"] or 0}
        for one in sets
    ]
    axis = {"title": None, "grid": False, "tickCount": 5, "format": ",d"}
    bars = {
        "mark": {"type": "bar", "height": 24, "color": SERIES[0]},
        "encoding": {
            "y": row_axis(),
            "x": {"field": "tokens", "type": "quantitative", "axis": axis},
        },
    }
    what = f"Tokens to write a kept item. {'; '.join(str(value['row']) for value in values)}."
    return whole(what, values, [row_names(-22), bars], BAR_ROW * len(values))


def _cost(summary: Mapping[str, Any]) -> str:
    if summary["tokens_per_kept"]:
        return f"{summary['tokens_per_kept']:,.0f} tokens, {summary['calls_per_kept']:.1f} calls"
    return f"none kept; {summary['tokens']:,} tokens, {summary['calls']:,} calls in all"
