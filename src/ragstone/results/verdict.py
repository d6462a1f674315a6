"""Verdicts on the comparisons that the experiment file planned (`analysis`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final

from ragstone.results.reader import ScoredRows, StoredResults
from ragstone.results.wording import moment
from ragstone.statistics.paired import Correction, Difference, adjust, paired_difference
from ragstone.statistics.significance import Family, Outcome, judge
from ragstone.statistics.summary import clusters_of

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
    """Of b against a."""
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


def _compared(results: StoredResults, analysis: PlannedAnalysis) -> Iterator[_Gap]:
    """Yield each pair's difference under each setting and by each metric with a direction."""
    measured = {(rows.setting, rows.system): rows for rows in (*results.trials, *results.rankings)}
    wanted = set(_population(results, analysis.population))
    for setting in dict.fromkeys(setting for setting, _ in measured):
        for a, b in analysis.comparisons:
            if (setting, a) not in measured or (setting, b) not in measured:
                continue
            first, second = measured[setting, a], measured[setting, b]
            for metric in first.scores:
                if results.record.metric(metric).direction != "neutral":
                    found = _difference(results, first, second, metric, wanted)
                    if found is not None:
                        yield _Gap(a, b, metric, setting, found)


def _difference(
    results: StoredResults, a: ScoredRows, b: ScoredRows, metric: str, wanted: set[str]
) -> Difference | None:
    first, second = a.values(metric), b.values(metric)
    both = [
        (query_id, x, y)
        for query_id, x in first.items()
        if query_id in wanted and x is not None and (y := second.get(query_id)) is not None
    ]
    if not both:
        return None
    ids, mine, others = zip(*both, strict=True)
    bounds = results.record.metric(metric).range
    clusters = clusters_of(ids, results.clusters)
    return paired_difference(mine, others, clusters=clusters, bounds=bounds)


def _population(results: StoredResults, population: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of the queries with the labels."""
    wanted = {k: v if isinstance(v, list) else [v] for k, v in population.items()}
    for query_id, query in results.all_queries.items():
        if all(query.labels.get(label) in values for label, values in wanted.items()):
            yield query_id


def _decided(
    results: StoredResults, analysis: PlannedAnalysis, gaps: Sequence[_Gap], *, exploratory: bool
) -> Iterator[ComparisonVerdict]:
    family = Family(_LEVEL, len(gaps), analysis.correction)
    corrected = adjust([gap.difference.p for gap in gaps], analysis.correction)
    for gap, p in zip(gaps, corrected, strict=True):
        found, lower = gap.difference, results.record.metric(gap.metric).direction == "lower"
        # A margin is on the scale of the headline metric.
        margin = None if exploratory else analysis.margin
        outcome = family.outcome(found, p, lower_is_better=lower, margin=margin)
        text = judge(gap.a, gap.b, found, p, family, lower_is_better=lower).verdict
        if outcome == "equivalent":
            text = f"{gap.a} and {gap.b} are equivalent: they differ by less than {margin:g}"
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
            outcome,
            f"{gap.metric}{where}: {text}{mark}.",
            exploratory,
        )


def verdict_lines(results: StoredResults) -> list[str]:
    """Return the sentences for people: all planned verdicts, the decided ones of the others."""
    found = verdicts(results)
    shown = [one for one in found if not one.exploratory or one.outcome != "undecided"]
    rest = len(found) - len(shown)
    more = f"{rest:,} exploratory comparisons by other metrics show no difference."
    return [one.sentence for one in shown] + ([more] if rest else [])


def verdict_documents(results: StoredResults) -> dict[str, Any]:
    """Return the analysis and the verdicts as plain data (`--json`)."""
    analysis = planned_analysis(results)
    return {
        "analysis": analysis and {**asdict(analysis), "sentence": analysis.sentence},
        "verdicts": [asdict(verdict) for verdict in verdicts(results)],
    }
