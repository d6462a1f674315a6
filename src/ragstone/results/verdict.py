"""Verdicts on the comparisons that the experiment file planned (`analysis`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final

from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import ScoredRows
from ragstone.results.wording import moment
from ragstone.statistics.failures import difference_between
from ragstone.statistics.paired import Correction, Difference, adjust
from ragstone.statistics.significance import Family, Outcome, judge
from ragstone.types import Score

_LEVEL: Final = 0.05
"""The corrected p of a difference is below this."""


@dataclass(frozen=True)
class PlannedAnalysis:
    """The analysis of an experiment file, with its date."""

    headline: str
    comparisons: tuple[tuple[str, str], ...]
    margin: float | None
    correction: Correction
    population: Mapping[str, Any]
    recorded: str
    """When a run first recorded the analysis; "" if none did."""
    after_results: bool
    """Whether results of the experiment had finished before."""

    @property
    def sentence(self) -> str:
        """The metric, the population, the date, and whether results were known before."""
        among = "".join(
            f", {label}: {' or '.join(map(str, value)) if isinstance(value, list) else value}"
            for label, value in self.population.items()
        )
        margin = "" if self.margin is None else f", margin {self.margin:g}"
        date = "not recorded"
        if self.recorded:
            before = "after results of this experiment had finished"
            known = before if self.after_results else "before any results of this experiment"
            date = f"recorded {moment(self.recorded)} UTC, {known}"
        return f"{self.headline}{among}; correction {self.correction}{margin}; {date}"


@dataclass(frozen=True)
class ComparisonVerdict:
    """The verdict on one comparison of two systems, by one metric under one setting."""

    a: str
    b: str
    metric: str
    setting: str
    """The context setting; "" for retrieval."""
    n: int
    difference: float
    """Mean of b minus mean of a."""
    interval: tuple[float, float] | None
    p: float
    adjusted_p: float
    outcome: Outcome
    """The outcome of b against a."""
    sentence: str
    exploratory: bool
    """Whether the analysis does not name the comparison: it is by another metric."""


def planned_analysis(results: StoredResults) -> PlannedAnalysis | None:
    """Return the analysis of an experiment, its comparisons listed; None if nothing is planned."""
    given = results.record.file.get("analysis")
    if not given:
        return None
    others = (name for name in results.systems if name != given["baseline"])
    pairs = [tuple(pair) for pair in given["comparisons"]]
    if given["baseline"]:
        pairs = [(given["baseline"], name) for name in others]
    return PlannedAnalysis(
        headline=results.record.headline,
        comparisons=tuple(pairs or combinations(results.systems, 2)),
        margin=given["margin"],
        correction=given["correction"],
        population=given["population"],
        recorded=results.record.analysis.get("recorded", ""),
        after_results=bool(results.record.analysis.get("after_results")),
    )


def verdicts(results: StoredResults) -> list[ComparisonVerdict]:
    """Return the verdicts on the planned comparisons, then those by other metrics.

    The p of the planned ones are corrected together, and those of the others together. Without an
    analysis there are none.
    """
    analysis = planned_analysis(results)
    if analysis is None:
        return []
    compared = list(_compared(results, analysis))
    planned = [one for one in compared if one.metric == analysis.headline]
    others = [one for one in compared if one.metric != analysis.headline]
    return [
        *_decided(results, analysis, planned, exploratory=False),
        *_decided(results, analysis, others, exploratory=True),
    ]


@dataclass(frozen=True)
class _Gap:
    a: str
    b: str
    metric: str
    setting: str
    difference: Difference
    failed: tuple[int, int]


def _compared(results: StoredResults, analysis: PlannedAnalysis) -> Iterator[_Gap]:
    """Yield each pair's difference under each setting and by each metric with a direction."""
    measured = {(rows.setting, rows.system): rows for rows in (*results.trials, *results.rankings)}
    queries = results.all_queries.items()
    wanted = {q for q, query in queries if query.has_labels(analysis.population)}
    for setting in dict.fromkeys(setting for setting, _ in measured):
        for a, b in analysis.comparisons:
            if (setting, a) not in measured or (setting, b) not in measured:
                continue
            for metric in measured[setting, a].scores:
                if results.record.metric(metric).direction == "neutral":
                    continue
                first, second = (_chosen(measured[setting, s], metric, wanted) for s in (a, b))
                scale = results.record.scale(metric)
                found = difference_between(first, second, scale, results.clusters)
                if found is not None:
                    failed = (_failed(first), _failed(second))
                    yield _Gap(a, b, metric, setting, found, failed)


def _chosen(rows: ScoredRows, metric: str, wanted: Container[str]) -> dict[str, Score]:
    return {q: score for q, score in rows.scores.get(metric, {}).items() if q in wanted}


def _failed(scores: Mapping[str, Score]) -> int:
    return sum(score.status == "failed" for score in scores.values())


def _decided(
    results: StoredResults, analysis: PlannedAnalysis, gaps: Sequence[_Gap], *, exploratory: bool
) -> Iterator[ComparisonVerdict]:
    # A margin is on the scale of the headline metric.
    margin = None if exploratory else analysis.margin
    family = Family(_LEVEL, len(gaps), analysis.correction, margin)
    corrected = adjust([gap.difference.p for gap in gaps], analysis.correction)
    for gap, p in zip(gaps, corrected, strict=True):
        found, scale = gap.difference, results.record.scale(gap.metric)
        pair = judge(gap.a, gap.b, found, p, family, scale=scale, failed=gap.failed)
        where = f" under {gap.setting}" if gap.setting else ""
        mark = " (exploratory)" if exploratory else ""
        yield ComparisonVerdict(
            gap.a,
            gap.b,
            gap.metric,
            gap.setting,
            found.n,
            found.difference,
            found.interval,
            found.p,
            p,
            pair.outcome,
            f"{gap.metric}{where}: {pair.verdict}{mark}.",
            exploratory,
        )


def verdict_lines(results: StoredResults) -> list[str]:
    """Return the sentences on the planned comparisons, and the counts of the others as one line."""
    found = verdicts(results)
    others = Counter(one.outcome for one in found if one.exploratory)
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(others.items()))
    more = f"Exploratory comparisons by other metrics, b against a: {counts}."
    return [one.sentence for one in found if not one.exploratory] + ([more] if others else [])


def verdict_documents(results: StoredResults) -> dict[str, Any]:
    """Return the analysis and the verdicts as plain data (`--json`)."""
    analysis = planned_analysis(results)
    return {
        "analysis": analysis and {**asdict(analysis), "sentence": analysis.sentence},
        "verdicts": [asdict(verdict) for verdict in verdicts(results)],
    }
