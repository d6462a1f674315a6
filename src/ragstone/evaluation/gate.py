"""A gate between two versions of a system: pass, worse or undecided, by one-sided bounds."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Final

import numpy as np

from ragstone.core import limits
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError
from ragstone.evaluation.gate_result import GatedMetric, GateResult, Verdict, worst_verdict
from ragstone.evaluation.scored_systems import Column, ScoredSystems, Scores, scored_systems
from ragstone.statistics.failures import FAILURE_RATE, Scale, difference_between
from ragstone.statistics.flipped import flipped_queries
from ragstone.statistics.group_sequential import level_at, obrien_fleming
from ragstone.statistics.paired import POWER, Difference
from ragstone.statistics.summary import Policy
from ragstone.types import Score

ALPHA: Final = 0.05
"""One-sided level of both bounds."""
_FEW: Final = 0.5
"""Share of common queries below which the baseline is one of other data."""
_NORMAL: Final = NormalDist()


def gate(
    new: Scores,
    *,
    baseline: Scores,
    metrics: str | Sequence[str],
    margin: float | Sequence[float],
    clusters: Mapping[str, Hashable] | None = None,
    lower_is_better: Iterable[str] = (),
    failures: Policy = "wrong",
    looks: int = 1,
    seed: int = 0,
    common: bool = False,
) -> GateResult:
    """Decide whether a new version may replace a baseline.

    The change is new minus baseline, with its sign turned for metrics of which lower is better. A
    metric passes if the one-sided lower 95 % bound of the change is above -margin; else it is worse
    if the upper bound is below 0; else it is undecided. Of several metrics, worse beats undecided
    and undecided beats pass.

    Args:
        new: the scores of the new version: anything that `ragstone.compare` takes.
        baseline: the scores of the version to compare it with.
        metrics: a metric or several.
        margin: the largest loss that is acceptable, of all metrics or one of each.
        clusters: query id -> conversation or source document (default: as in `compare`).
        lower_is_better: metrics such as latency; the direction of Ragstone's metrics is known.
        failures: what counts for a failed query: `wrong`, `exclude` or `bounds`.
        looks: number of planned looks. With more than one, the queries are analysed in a random
            order and in equal batches, and the analysis ends at the first decision.
        seed: seed of that order.
        common: accept a baseline of other data, and use the queries of both.

    Raises:
        ConfigError: an unknown metric, a margin that is not above 0, or a baseline of other data.
        DatasetError: a damaged file of scores, or no query in common.

    >>> old = [Score(str(i), "EM", float(i % 4 > 0)) for i in range(200)]
    >>> new = [Score(str(i), "EM", float(i % 4 > 0 or i % 8 == 0)) for i in range(200)]
    >>> print(gate(new, baseline=old, metrics="EM", margin=0.02).verdict)
    pass
    >>> print(gate(old, baseline=new, metrics="EM", margin=0.02).verdict)
    worse
    """
    names = [metrics] if isinstance(metrics, str) else list(dict.fromkeys(metrics))
    margins = _margins(names, margin)
    obrien_fleming(looks, ALPHA)
    systems = scored_systems(
        {"baseline": baseline, "new": new},
        clusters=clusters,
        lower_is_better=lower_is_better,
        failures=failures,
    )
    systems = _checked(systems, names)
    notes = [*_other_data(systems, names, common=common)]
    plan = _Plan(systems, margins, looks, seed)
    return replace(plan.result(), notes=tuple(notes))


def _checked(systems: ScoredSystems, names: Sequence[str]) -> ScoredSystems:
    """Return the systems; raise `ConfigError` for a metric that the gate cannot decide on."""
    if FAILURE_RATE in names:
        systems = _with_failure_rate(systems)
    _, absent = systems.shared_metrics(names)
    for metric in names:
        if metric in absent:
            raise ConfigError(f"{' and '.join(absent[metric])} has no scores of {metric}")
        if systems.scale(metric).direction == "neutral":
            raise ConfigError(
                f"neither direction of {metric} is better; if less of it is better, name it in "
                "lower_is_better (--lower-is-better)"
            )
    return systems


def decide(change: tuple[float, float] | None, margin: float) -> Verdict:
    """Return the verdict on the bounds of a change; undecided without bounds.

    >>> [decide(bounds, 0.02) for bounds in [(-0.01, 0.03), (-0.05, -0.01), (-0.05, 0.01), None]]
    ['pass', 'worse', 'undecided', 'undecided']
    """
    low, high = change or (-math.inf, math.inf)
    if low > -margin:
        return "pass"
    return "worse" if high < 0 else "undecided"


def queries_to_decide(
    found: Difference, change: float, margin: float, *, level: float = ALPHA, span: float = 1.0
) -> int | None:
    """Return about how many queries in all decide, with a probability of 80 %.

    This is under the assumption that the observed change is the true one.

    Args:
        found: the difference on the queries so far.
        change: the difference, with its sign turned if lower is better.
        margin: the largest acceptable loss.
        level: one-sided level of the bounds.
        span: the greatest possible difference of a query.

    Returns:
        The number, or None with a single cluster or if no realistic number is enough.
    """
    if found.standard_error is None:
        return None
    quantile = -_NORMAL.inv_cdf(level)
    distance = max(change + margin, -change)
    needed = ((quantile + _NORMAL.inv_cdf(POWER)) * found.standard_error / distance) ** 2
    # Equal values do not show that all others are equal: Tango's bound without any difference.
    unseen = quantile**2 * max(span / distance - 1, 0.0) * found.n / found.clusters
    total = max(math.ceil(found.n * needed), math.ceil(unseen), found.n + 1)
    return total if total <= limits.MAX_PLANNED_QUERIES else None


def chance_to_pass(found: Difference, margin: float, level: float = ALPHA) -> float | None:
    """Return the approximate probability that an equal system passes on as many queries."""
    if not found.standard_error:
        return None
    return _NORMAL.cdf(margin / found.standard_error + _NORMAL.inv_cdf(level))


def _margins(names: Sequence[str], margin: float | Sequence[float]) -> dict[str, float]:
    given = [margin] if isinstance(margin, int | float) else list(margin)
    if not names or len(given) not in {1, len(names)}:
        raise ConfigError(
            f"{len(given)} margins for {len(names)} metrics; give at least one metric, and one "
            "margin for all metrics or one for each, in their order",
            key="margin",
        )
    for one in given:
        if not (one > 0 and math.isfinite(one)):
            raise ConfigError(
                f"margin {one} is not above 0; for example 0.02", key="margin", value=one
            )
    return dict(zip(names, given * len(names) if len(given) == 1 else given, strict=True))


def _with_failure_rate(systems: ScoredSystems) -> ScoredSystems:
    """Return the systems with the failure rate, which is 0 if no query failed."""
    tables = {}
    for name, held in systems.tables.items():
        ids = dict.fromkeys(q for column in held.values() for q in column)
        tables[name] = {FAILURE_RATE: {q: Score(q, FAILURE_RATE, 0.0) for q in ids}, **held}
    return replace(systems, tables=tables)


def _ids(systems: ScoredSystems, names: Iterable[str]) -> dict[str, dict[str, None]]:
    """Return system -> the ids of its queries under some metrics."""
    return {
        system: dict.fromkeys(q for metric in names for q in held[metric])
        for system, held in systems.tables.items()
    }


def _other_data(systems: ScoredSystems, names: Sequence[str], *, common: bool) -> Iterator[str]:
    """Yield how the data differ; raise `ConfigError` if the baseline is of other data."""
    ids = _ids(systems, names)
    both = [q for q in ids["new"] if q in ids["baseline"]]
    problems, told = list[str](), list[str]()
    for name, other in (("new", "baseline"), ("baseline", "new")):
        alone = [q for q in ids[name] if q not in ids[other]]
        if alone:
            told.append(f"{len(alone):,} queries are only in {name}: {listed(alone)}")
    most = max(map(len, ids.values()))
    if len(both) < _FEW * most:
        problems.append(f"only {len(both):,} of {most:,} queries are common")
    before, after = map(systems.evaluations.get, ("baseline", "new"))
    if before and after:
        if before.corpus_digest != after.corpus_digest and before.corpus_digest:
            problems.append("the corpora differ")
        golds = before.gold_answers, after.gold_answers
        shared = [q for q in both if q in golds[0] and q in golds[1]]
        changed = [q for q in shared if golds[0][q] != golds[1][q]]
        if changed:
            problems.append(f"the gold answers of {len(changed):,} queries differ")
    if problems and not common:
        raise ConfigError(
            f"the baseline is of other data: {'; '.join(problems)}. Evaluate both versions on the "
            "same data, or decide on the common queries all the same: --common (common=True)",
            key="common",
        )
    yield from problems + told


@dataclass
class _Plan:
    """The looks at the scores of two versions."""

    systems: ScoredSystems
    margins: Mapping[str, float]
    looks: int
    seed: int
    done: dict[str, GatedMetric] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the range and the direction of each metric, which are the same at every look."""
        self.scales = {metric: self.systems.scale(metric) for metric in self.margins}

    def result(self) -> GateResult:
        """Look until a metric is worse or all metrics are decided."""
        batches = self._batches()
        used = 0
        for look, ids in enumerate(batches, start=1):
            used = len(ids)
            share = used / len(batches[-1])
            for metric in self.margins:
                if metric not in self.done or self.done[metric].verdict == "undecided":
                    self.done[metric] = self._look(metric, ids, share, look)
            verdict = worst_verdict(one.verdict for one in self.done.values())
            if verdict in {"worse", "pass"}:
                break
        found = tuple(self.done[metric] for metric in self.margins)
        numbers = [m.queries_to_decide for m in found if m.verdict == "undecided"]
        known = [number for number in numbers if number is not None]
        return GateResult(
            verdict=worst_verdict(one.verdict for one in found),
            metrics=found,
            queries_to_decide=max(known) if known and len(known) == len(numbers) else None,
            looks=self.looks,
            look=look,
            used=used,
            queries=len(batches[-1]),
            clusters=self.systems.label,
        )

    def _batches(self) -> list[dict[str, None]]:
        """Return the common queries of each look, those of earlier looks included."""
        ids = _ids(self.systems, self.margins)
        both = [q for q in ids["baseline"] if q in ids["new"]]
        if self.looks == 1:
            return [dict.fromkeys(both)]
        groups: dict[Hashable, list[str]] = {}
        for query_id in sorted(both):
            cluster = self.systems.clusters.get(query_id)
            groups.setdefault((cluster,) if cluster is not None else query_id, []).append(query_id)
        units = list(groups.values())
        order = np.random.default_rng(self.seed).permutation(len(units))
        ends = sorted({math.ceil(len(units) * k / self.looks) for k in range(1, self.looks + 1)})
        return [dict.fromkeys(q for unit in order[:end] for q in units[unit]) for end in ends]

    def _look(self, metric: str, ids: Mapping[str, None], share: float, look: int) -> GatedMetric:
        """Return the verdict on the queries of one look."""
        columns, scale = self.systems.columns(metric), self.scales[metric]
        old, new = ({q: s for q, s in columns[n].items() if q in ids} for n in ("baseline", "new"))
        level = level_at(share, self.looks, ALPHA)
        found = difference_between(old, new, scale, self.systems.clusters, confidence=1 - 2 * level)
        gated = GatedMetric(metric, self.margins[metric], look=look, direction=scale.direction)
        if found is None:
            return gated
        sign = -1 if scale.direction == "lower" else 1
        interval = None
        if found.interval is not None:
            low, high = sorted(sign * bound for bound in found.interval)
            interval = (low, high)
        verdict = decide(interval, gated.margin)
        failed = _failed(old), _failed(new)
        hidden = verdict == "pass" and scale.policy == "exclude" and failed[1] > failed[0]
        change = sign * found.difference
        final = level_at(1.0, self.looks, ALPHA)
        span = scale.range[1] - scale.range[0] if scale.range else 1.0
        needed = queries_to_decide(found, change, gated.margin, level=final, span=span)
        means = _means(old, new, scale)
        return replace(
            gated,
            difference=change,
            interval=interval,
            n=found.n,
            verdict="undecided" if hidden else verdict,
            clusters=found.clusters,
            baseline=means[0],
            new=means[1],
            failed=failed,
            hidden_failures=hidden,
            queries_to_decide=needed if verdict == "undecided" else None,
            chance_to_pass=chance_to_pass(found, gated.margin, final),
            flipped=flipped_queries(old, new, scale),
        )


def _failed(column: Mapping[str, Score]) -> int:
    return sum(score.status == "failed" for score in column.values())


def _means(old: Column, new: Column, scale: Scale) -> tuple[float, float]:
    """Return the means over the queries that count for both, failed ones at their worst."""
    cases = ((scale.counted(old[q]), scale.counted(new[q])) for q in old if q in new)
    held = [(a[0], b[0]) for a, b in cases if a and b]
    first, second = (math.fsum(side) / len(held) for side in zip(*held, strict=True))
    return first, second
