"""A gate between two versions of a system: pass, worse or undecided, by one-sided bounds."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from ragstone.core.schemas import table_to_scores
from ragstone.data.readers.rows import listed
from ragstone.errors import CallError, ConfigError
from ragstone.evaluation.changes import ChangeCount, change_counts, query_changes
from ragstone.evaluation.evaluation import Evaluation
from ragstone.evaluation.gate_result import GatedMetric, GateResult, Verdict, worst_verdict
from ragstone.evaluation.scored_systems import (
    Column,
    ScoredSystems,
    Scores,
    data_changes,
    scored_systems,
)
from ragstone.statistics.failures import FAILURE_RATE, Scale, difference_between
from ragstone.statistics.flipped import flipped_queries
from ragstone.statistics.group_sequential import level_at, obrien_fleming
from ragstone.statistics.margins import ALPHA, chance_to_pass, queries_to_decide, small_margin
from ragstone.statistics.summary import Policy
from ragstone.types import Score

_FEW: Final = 0.5
"""Share of common queries below which the baseline is one of other data."""
_LOG: Final = logging.getLogger(__name__)


@runtime_checkable
class AskedSystem(Protocol):
    """A new version that is asked in batches, as far as a gate needs it."""

    def outline(self) -> Evaluation:
        """Return the outline of the scores: one without a value per query and metric."""
        ...

    def ask(self, query_ids: Sequence[str]) -> Evaluation:
        """Return the scores of these queries; those of an earlier call are not asked again."""
        ...


def gate(
    new: Scores | AskedSystem,
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
    and undecided beats pass. Sources of the bounds: docs/gate.md.

    Args:
        new: the scores of the new version: anything that `ragstone.compare` takes; or a system
            that is asked look by look, until the verdict is found.
        baseline: the scores of the version to compare it with.
        metrics: a metric or several.
        margin: the largest loss that is acceptable, of all metrics or one of each.
        clusters: query id -> conversation or source document (default: as in `compare`).
        lower_is_better: metrics such as latency; the direction of Ragstone's metrics is known.
        failures: the failure policy: `wrong`, `exclude` or `bounds`.
        looks: number of planned looks. With more than one, the queries are analysed in a random
            order and in equal batches, and the analysis ends at the first decision.
        seed: seed of that order.
        common: accept a baseline of other data, and use the queries of both.

    Raises:
        ConfigError: an unknown metric, a margin that is not above 0, or a baseline of other data.
        DatasetError: a damaged file of scores, or no query in common (CallError: all failed).

    >>> old = [Score(str(i), "EM", float(i % 4 > 0)) for i in range(200)]
    >>> new = [Score(str(i), "EM", float(i % 4 > 0 or i % 8 == 0)) for i in range(200)]
    >>> print(gate(new, baseline=old, metrics="EM", margin=0.02).verdict)
    pass
    """
    names = [metrics] if isinstance(metrics, str) else list(dict.fromkeys(metrics))
    margins = _margins(names, margin)
    obrien_fleming(looks, ALPHA)
    options: dict[str, Any] = {"lower_is_better": lower_is_better, "failures": failures}

    def read(scores: Scores) -> ScoredSystems:
        sides = {"baseline": baseline, "new": scores}
        return _checked(scored_systems(sides, clusters=clusters, **options), names)

    outline = new.outline() if isinstance(new, AskedSystem) else new
    plan = _Plan(read(outline), margins, looks, seed)
    notes = tuple(_other_data(plan.systems, names, common=common))
    if isinstance(new, AskedSystem):
        found = _asked(new, plan, notes, read)
    else:
        found = plan.result(lambda _: plan.systems)
    return replace(found, notes=notes)


def _asked(
    new: AskedSystem,
    plan: _Plan,
    notes: Sequence[str],
    read: Callable[[Evaluation], ScoredSystems],
) -> GateResult:
    """Return the verdict on a system that is asked; doubts are logged before."""
    for line in (*notes, *plan.doubts()):
        _LOG.warning("note: %s", line)
    return plan.result(lambda ids: read(_answered(new.ask(ids), list(plan.margins))))


def _answered(scores: Evaluation, names: Sequence[str]) -> Evaluation:
    """Return the scores; raise `CallError` if all of a metric failed."""
    held = table_to_scores(scores.table)
    for metric in names:
        column = [score for score in held if score.metric == metric]
        if column and all(score.status == "failed" for score in column):
            reason = next((score.reason for score in column if score.reason), "no reason is known")
            raise CallError(f"the new version failed on all {len(column):,} queries: {reason}")
    return scores


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


def _both(systems: ScoredSystems, names: Iterable[str]) -> list[str]:
    """Return the queries of both sides, in the order of the baseline."""
    ids = _ids(systems, names)
    return [q for q in ids["baseline"] if q in ids["new"]]


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
        problems += data_changes(before, after)
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

    def doubts(self) -> Iterator[str]:
        """Yield a line for each margin that the queries can hardly decide."""
        both = _both(self.systems, self.margins)
        level = level_at(1.0, self.looks, ALPHA)
        for metric, margin in self.margins.items():
            column, scale = self.systems.columns(metric)["baseline"], self.systems.scale(metric)
            counted = [scale.counted(column[q]) for q in both if q in column]
            values = [found[0] for found in counted if found]
            if text := small_margin(values, margin, level):
                yield f"{metric}: {text}"

    def result(self, ask: Callable[[Sequence[str]], ScoredSystems]) -> GateResult:
        """Look until a metric is worse or all metrics are decided.

        `ask` returns the scores of the queries of a look, those of earlier looks included.
        """
        batches = self._batches()
        used = 0
        for look, ids in enumerate(batches, start=1):
            used = len(ids)
            share = used / len(batches[-1])
            scored = ask(list(ids))
            for metric in self.margins:
                if metric not in self.done or self.done[metric].verdict == "undecided":
                    self.done[metric] = self._look(scored, metric, ids, share, look)
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
            changes=tuple(_changes(found, scored)),
            answered=scored.answered,
        )

    def _batches(self) -> list[dict[str, None]]:
        """Return the common queries of each look, those of earlier looks included."""
        both = _both(self.systems, self.margins)
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

    def _look(
        self, scored: ScoredSystems, metric: str, ids: Mapping[str, None], share: float, look: int
    ) -> GatedMetric:
        """Return the verdict on the queries of one look."""
        columns, scale = scored.columns(metric), scored.scale(metric)
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


def _changes(metrics: Iterable[GatedMetric], scored: ScoredSystems) -> Iterator[ChangeCount]:
    """Yield the causes of the changes of each metric, over the queries of its last look."""
    for one in metrics:
        if one.flipped is not None:
            pair = ("baseline", "new")
            found = query_changes(one.metric, pair, one.flipped, scored.tables, scored.answered)
            yield from change_counts(found)


def _failed(column: Mapping[str, Score]) -> int:
    return sum(score.status == "failed" for score in column.values())


def _means(old: Column, new: Column, scale: Scale) -> tuple[float, float]:
    """Return the means over the queries that count for both, failed ones at their worst."""
    cases = ((scale.counted(old[q]), scale.counted(new[q])) for q in old if q in new)
    held = [(a[0], b[0]) for a, b in cases if a and b]
    first, second = (math.fsum(side) / len(held) for side in zip(*held, strict=True))
    return first, second
