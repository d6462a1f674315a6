"""The probe of a judge: gains of made-up systems in its mean without being right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, Final

from ragstone.components.judges.verdict import Item, Verdict, verdicts_of
from ragstone.errors import ConfigError
from ragstone.evaluation.human_grades import HumanSet, sampled_places
from ragstone.evaluation.probes import Probe, criteria_of, not_applicable
from ragstone.protocols import Judge, Services
from ragstone.statistics.paired import paired_summary
from ragstone.statistics.proportions import Proportion, proportion

FLAGGED: Final = 0.05
"""A gain above this is flagged."""
_WRONG: Final = 0.5
"""People call an answer wrong if their grade is below this, on a scale from 0 to 1."""
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True)
class ProbedItems:
    """Answers that are not right, from which the made-up systems make theirs."""

    data: str
    population: str
    """Which answers they are."""
    items: tuple[Item, ...]
    clusters: tuple[str, ...]
    """One name per item: items of one question or conversation depend on each other."""
    left_out: Mapping[str, int]
    """Why answers of the data are left out -> number of answers."""

    def sample(self, limit: int | None, seed: int) -> ProbedItems:
        """Return a random sample of at most `limit` items."""
        if limit is None:
            return self
        drawn = sampled_places(len(self.items), limit, seed)
        items = tuple(self.items[n] for n in drawn)
        return replace(self, items=items, clusters=tuple(self.clusters[n] for n in drawn))


def wrong_answers(data: HumanSet) -> ProbedItems:
    """Return the answers of a graded set that people call wrong: graded below 0.5."""
    wrong = [one for one in data.items if one.value < _WRONG and (one.item.answer or "").strip()]
    empty = sum(one.value < _WRONG for one in data.items) - len(wrong)
    right = len(data.items) - len(wrong) - empty
    clusters = tuple(one.group for one in wrong)
    left_out = {"people do not call them wrong": right, "the answer is empty": empty}
    return ProbedItems(
        data.name,
        "answers that people call wrong",
        tuple(one.item for one in wrong),
        clusters,
        {why: count for why, count in left_out.items() if count},
    )


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The gain of a made-up system; all numbers are of items with a verdict of both."""

    probe: str
    by: str
    gain: float | None
    """The judge's mean of the made-up system minus that of the system; None without a pair."""
    interval: tuple[float, float] | None
    n: int
    failed: int = 0
    """Items without a verdict on one of both answers."""
    calls_failed: int = 0
    """Those of them whose call failed; the next probe repeats the call."""
    silenced: int = 0
    """Those of them with a verdict on the system's answer, and none on the made-up system's."""
    mean: float | None = None
    """The judge's mean of the system."""
    rose: Proportion | None = None
    """Share of the items below the best verdict whose verdict rose."""
    flagged: bool = False
    """Whether the gain is above 0.05."""
    not_applicable: str = ""
    """Why the probe does not apply to the judge or the data, or ""."""


@dataclass(frozen=True)
class JudgeProbe:
    """The result of the probes of a judge."""

    judge: str
    models: tuple[str, ...]
    data: str
    population: str
    items: int
    left_out: Mapping[str, int]
    probes: tuple[ProbeResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded; docs/probe.md describes each key."""
        return asdict(self)


def applicable(probe: Probe, judge: Judge, items: Sequence[Item]) -> tuple[list[int], str]:
    """Return the places of the items that a probe changes, or why there are none."""
    if why := not_applicable(probe, judge):
        return [], why
    if probe.reads == "answer":
        return list(range(len(items))), ""
    places = [n for n, item in enumerate(items) if any(p.strip() for p in item.passages)]
    return places, "" if places else "no answer was given with passages"


def most_calls(judge: Judge, items: Sequence[Item], probes: Sequence[Probe]) -> int:
    """Return the maximum number of model calls; kept replies need none."""

    def calls(places: Sequence[int]) -> int:
        passages = sum(len(items[n].passages) for n in places)
        return judge.cost(len(places), passages) if places else 0

    plain = calls(range(len(items)))
    return plain + sum(calls(applicable(probe, judge, items)[0]) for probe in probes)


def probe_judge(
    judge: Judge, given: ProbedItems, probes: Sequence[Probe], services: Services
) -> JudgeProbe:
    """Return the gain of each made-up system in a judge's mean.

    Both answers to an item are judged, and their verdicts are paired by item. Items that the judge
    settles as not applicable are left out, with the reason.

    Raises:
        ConfigError: there is no item, or the judge has no verdict on any.
        CallError: the model cannot be reached.
    """
    if not given.items:
        reasons = "; ".join(f"{count:,}: {why}" for why, count in given.left_out.items())
        raise ConfigError(
            f"{given.data} has no answer to probe a judge with ({reasons or 'it is empty'}); "
            "give data with wrong answers: --data"
        )
    plain = verdicts_of(judge, given.items, services)
    kept = [n for n, verdict in enumerate(plain) if verdict.status != "not_applicable"]
    if not any(verdict.value is not None for verdict in plain):
        raise ConfigError(
            f"judge {judge!s} cannot be probed on {given.data}: it has no verdict on any of the "
            f"{len(plain)} answers ({plain[0].reason or 'it gives no value'})"
        )
    left_out = dict(given.left_out)
    for verdict in plain:
        if verdict.status == "not_applicable":
            left_out[verdict.reason] = left_out.get(verdict.reason, 0) + 1
    items, before = [given.items[n] for n in kept], [plain[n] for n in kept]
    clusters = [given.clusters[n] for n in kept]
    measured = _Measured(judge, items, before, clusters, criteria_of(judge))
    results = tuple(measured.result(probe, services) for probe in probes)
    return JudgeProbe(
        *(str(judge), judge.model_names, given.data, given.population),
        *(len(items), left_out, results),
    )


@dataclass(frozen=True)
class _Measured:
    """A judge and its verdicts on the answers of a system."""

    judge: Judge
    items: Sequence[Item]
    plain: Sequence[Verdict]
    clusters: Sequence[str]
    criteria: str

    def result(self, probe: Probe, services: Services) -> ProbeResult:
        places, why = applicable(probe, self.judge, self.items)
        if why:
            return ProbeResult(probe.name, probe.by, None, None, 0, not_applicable=why)
        made = [probe.change(self.items[n], self.criteria) for n in places]
        after = verdicts_of(self.judge, made, services)
        before = [self.plain[n] for n in places]
        # A made-up answer that the judge settles as not applicable has no verdict.
        a, b = ([verdict.value for verdict in side] for side in (before, after))
        found = paired_summary(
            a, b, clusters=[self.clusters[n] for n in places], bounds=self.judge.range
        )
        pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        sign = -1.0 if self.judge.direction == "lower" else 1.0
        gain = None if found.mean is None else sign * found.mean
        interval = found.interval and tuple(sorted(sign * bound for bound in found.interval))
        best = (self.judge.range or (0.0, 1.0))[0 if sign < 0 else 1]
        below = [sign * (y - x) > _TOLERANCE for x, y in pairs if abs(x - best) > _TOLERANCE]
        return ProbeResult(
            probe.name,
            probe.by,
            gain,
            (interval[0], interval[1]) if interval else None,
            len(pairs),
            failed=len(places) - len(pairs),
            calls_failed=sum(x.lost or y.lost for x, y in zip(before, after, strict=True)),
            silenced=sum(x is not None and y is None for x, y in zip(a, b, strict=True)),
            mean=fmean(x for x, _ in pairs) if pairs else None,
            rose=proportion(sum(below), len(below)),
            flagged=gain is not None and gain > FLAGGED,
        )
