"""The plot of score, noise vulnerability and cost against the number of passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.results.adaptability import AdaptabilityRow
from ragstone.results.charts import parts
from ragstone.results.charts.means import lines_chart
from ragstone.results.charts.parts import Spec, mean_fields
from ragstone.results.plots.request import JOIN, PlotRequest, first_series
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.statistics.adaptability import Share
from ragstone.statistics.paired import adjust, paired_difference
from ragstone.statistics.summary import clusters_of, summarise

Charts = Iterator[tuple[str, Spec]]
ALPHA: Final = 0.05
_RETRIEVED: Final = re.compile(r"retrieved\((\d+)\)")
_PARTS: Final[Mapping[str, str]] = {
    "noise_vulnerability": "Noise vulnerability",
    "vulnerability_miss": "Noise vulnerability, miss: no gold passage was shown",
    "vulnerability_noise": "Noise vulnerability, noise: a gold passage was shown",
}


@dataclass(frozen=True)
class _Line:
    """The trials of one system by their number of passages."""

    name: str
    results: StoredResults
    trials: Mapping[int, TrialResults]

    @property
    def vulnerable(self) -> dict[int, AdaptabilityRow]:
        """Number of passages -> adaptability."""
        found = {row.setting: row for row in self.results.adaptability if row.system == self.system}
        return {k: found[t.setting] for k, t in self.trials.items() if t.setting in found}

    @property
    def system(self) -> str:
        """The name of the system."""
        return next(iter(self.trials.values())).system


def passages(request: PlotRequest) -> Charts:
    """Yield charts against k of the settings `retrieved(k)`, a line per system."""
    lines = list(_lines(request))
    ticks = sorted({k for line in lines for k in line.trials})
    if len(ticks) < 2:  # noqa: PLR2004 - a line has two ends
        raise request.missing(
            "no system has answers under two settings retrieved(k)",
            "add several to `settings:`, such as retrieved(1), retrieved(3), retrieved(5), "
            "retrieved(10)",
        )
    metric = request.answer_metric()
    yield from _chart(request, metric, _scores(request, lines, metric), ticks)
    for field, title in _PARTS.items():
        points = [
            {"name": line.name, "k": k, **_share_fields(getattr(row.adaptability, field), row)}
            for line in lines
            for k, row in line.vulnerable.items()
            if row.adaptability.n
        ]
        yield from _chart(request, title, points, ticks)
    if not any(line.vulnerable for line in lines):
        request.notes.append(
            "noise vulnerability is not drawn: it needs answers under none and under gold context"
        )
    yield from _cost(request, lines, ticks)


def _lines(request: PlotRequest) -> Iterator[_Line]:
    several = len(request.chosen.axes.get("data", [])) > 1
    for _, results in request.experiments():
        for system in results.systems:
            found = {
                int(k[1]): trial
                for trial in results.trials
                if trial.system == system
                and (k := _RETRIEVED.fullmatch(trial.setting))
                and request.is_chosen(results, system, trial.setting)
            }
            if found:
                name = [results.record.data.name, system] if several else [system]
                yield _Line(JOIN.join(name), results, dict(sorted(found.items())))


def _scores(request: PlotRequest, lines: Sequence[_Line], metric: str) -> list[Spec]:
    points = []
    for line in lines:
        cells = {c.setting: c for c in line.results.answer_cells if _is(c, line.system, metric)}
        known = {k: t for k, t in line.trials.items() if t.setting in cells}
        worse = _harmful(request, line, known, metric)
        points += [
            {"name": line.name, "k": k, "harms": k in worse, **mean_fields(found)}
            for k, trial in known.items()
            if (found := cells[trial.setting].summary).mean is not None
        ]
    return points


def _is(cell: Any, system: str, metric: str) -> bool:
    return bool(cell.system == system and cell.metric == metric)


def _harmful(
    request: PlotRequest, line: _Line, trials: Mapping[int, TrialResults], metric: str
) -> set[int]:
    """Return the numbers of passages that are worse than the best smaller number.

    Each is compared with the best smaller number by a paired test; p is corrected by Holm over the
    comparisons of the line.
    """
    scale = line.results.record.scale(metric)
    sign = -1 if scale.direction == "lower" else 1
    values = {
        k: {q: c[0] for q, s in t.scores.get(metric, {}).items() if (c := scale.counted(s))}
        for k, t in trials.items()
    }
    found = []
    for k, own in values.items():
        smaller = [other for other in values if other < k and values[other].keys() & own.keys()]
        if not smaller:
            continue
        best = max(smaller, key=lambda other: sign * _mean(values[other]))
        ids = [query for query in own if query in values[best]]
        pairs = [[held[query] for query in ids] for held in (values[best], own)]
        clusters = clusters_of(ids, line.results.clusters)
        difference = paired_difference(*pairs, clusters=clusters, bounds=scale.range)
        found.append((k, best, difference))
    ps = adjust([difference.p for *_, difference in found], "holm")
    worse = set()
    for (k, best, difference), p in zip(found, ps, strict=True):
        if p < ALPHA and sign * difference.difference < 0:
            worse.add(k)
            low, high = difference.interval or (difference.difference, difference.difference)
            request.notes.append(
                f"{line.name}: {metric} with {k} passages is worse than with {best}: "
                f"{difference.difference:+.3f} [{low:+.3f}, {high:+.3f}], n = {difference.n}, "
                f"p = {p:.3g} (Holm over the numbers of passages)"
            )
    return worse


def _mean(values: Mapping[str, float]) -> float:
    return sum(values.values()) / len(values)


def _cost(request: PlotRequest, lines: Sequence[_Line], ticks: Sequence[int]) -> Charts:
    """Yield cost per answer where prices are known, and tokens of the prompt per answer."""
    measures = {"Cost per answer": "cost", "Prompt tokens per answer": "tokens_in"}
    drawn: list[tuple[str, Spec]] = []
    for title, field in measures.items():
        points = []
        for line in lines:
            for k, trial in line.trials.items():
                known = {
                    q: float(value)
                    for q, one in trial.predictions.items()
                    if (value := getattr(one, field)) is not None
                }
                if known:
                    clusters = clusters_of(known, line.results.clusters)
                    failed = len(trial.predictions) - len(known)
                    summary = summarise(list(known.values()), clusters=clusters, bounds=None)
                    numbers = {**mean_fields(summary), "failed": failed}
                    points.append({"name": line.name, "k": k, **numbers})
        drawn += _chart(request, title, points, ticks)
    if not any(title == "Cost per answer" for title, _ in drawn):
        request.notes.append("cost is not drawn: no answer has a known price (docs/calls.md)")
    yield from drawn


def _share_fields(share: Share, row: AdaptabilityRow) -> Spec:
    low, high = share.interval or (share.share, share.share)
    left_out = len(row.adaptability.left_out)
    numbers = {"low": low, "high": high, "n": row.adaptability.n, "failed": 0}
    return {"mean": share.share, "count": share.count, **numbers, "left_out": left_out}


def _chart(
    request: PlotRequest, title: str, points: Sequence[Spec], ticks: Sequence[int]
) -> Charts:
    drawn = [point | {"place": ticks.index(point["k"])} for point in first_series(points, request)]
    if not drawn:
        return
    domain = parts.fitted_domain(point[end] for point in drawn for end in ("low", "high"))
    what = f"{title} by number of passages"
    spec = lines_chart(drawn, "k", ticks, what, title="passages", domain=domain)
    if any(point.get("harms") for point in drawn):
        spec = spec | {"layer": [*spec["layer"], _ring(spec)]}
    yield title, spec


def _ring(spec: Spec) -> Spec:
    """Return the layer that rings the numbers of passages that harm."""
    encoding = spec["layer"][-1]["encoding"]
    mark = {"type": "point", "filled": False, "size": 260, "strokeWidth": 2, "color": parts.INK}
    return {
        "transform": [{"filter": "datum.harms"}],
        "mark": mark | {"opacity": 1},
        "encoding": {channel: encoding[channel] for channel in ("x", "y")},
    }
