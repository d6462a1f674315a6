"""Adaptive comparison: queries are drawn in rounds, and systems that are worse are stopped.

Systems compete in a contest: on one data set and under one setting. The order of the queries is
random, fixed by a seed and the same for all systems, so that every pair has common queries. After
each round, every system is tested against the one that leads. A system is stopped if it is worse at
the one-sided level alpha / ((systems - 1) looks). The best system is tested against each other one
on the queries of at most `looks` rounds, so the probability that it is stopped is at most alpha,
however the rounds were chosen (Bonferroni; races of Maron and Moore, NIPS 6, 1994). The test is
that of `ragstone.statistics.difference_intervals`, over clusters.

The most informative queries are next: those of contests without a decision, and in them of systems
that are not behind the leader at 5 % in a single test (successive elimination for a fixed budget,
Audibert, Bubeck and Munos, COLT 2010). A system that is behind is not decided: it waits, and
catches up on the same queries if no other is closer. Within a round every query has the same
probability, so all weights are equal, and plain means estimate those of the whole set.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.difference_intervals import Interval, cluster_test
from ragstone.statistics.summary import (
    UNIT,
    Summary,
    cluster_sums,
    clusters_of,
    summarise,
)

Values: TypeAlias = Mapping[str, Mapping[str, float]]
"""System -> query id -> value, higher is better; a query that does not count is absent."""
State: TypeAlias = Literal["open", "decided", "equivalent", "complete", "budget"]
BEHIND: Final = 0.05
"""One-sided p from which a system waits for those that are closer to the leader."""


@dataclass(frozen=True, slots=True)
class AdaptiveRules:
    """How queries are drawn, and when a system is stopped."""

    share: float = 0.2
    """The budget: the largest share of all answers, of every system to every query."""
    looks: int = 8
    """Maximum number of rounds."""
    first: int = 24
    """Queries of the first round."""
    alpha: float = 0.05
    """Largest probability that the best system of a contest is stopped."""
    margin: float | None = None
    """A contest ends if all systems left are within this margin of the leader."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value out of range."""
        allowed = {
            "share": (0 < self.share <= 1, "above 0, up to 1"),
            "looks": (1 <= self.looks <= limits.MAX_LOOKS, f"1 to {limits.MAX_LOOKS}"),
            "first": (self.first > 1, "2 or more"),
            "alpha": (0 < self.alpha < 0.5, "above 0, below 0.5"),  # noqa: PLR2004 - one-sided
            "margin": (self.margin is None or self.margin > 0, "above 0, for example 0.02"),
        }
        for name, (is_allowed, text) in allowed.items():
            if not is_allowed:
                value = getattr(self, name)
                raise ConfigError(f"adaptive: {name} is {value}; allowed: {text}", key=name)

    def level(self, systems: int) -> float:
        """Return the one-sided level of a test in a contest of some systems."""
        return self.alpha / max(1, systems - 1) / self.looks

    def planned(self, queries: int, look: int) -> int:
        """Return the number of queries up to a look: they grow by equal factors to all queries.

        >>> [AdaptiveRules(looks=4, first=27).planned(1000, look) for look in (1, 2, 3, 4)]
        [27, 90, 300, 1000]
        """
        first = max(2, min(self.first, math.floor(self.share * queries / 2)))
        if look == self.looks or first >= queries:
            return queries
        grown = first * math.pow(queries / first, (look - 1) / (self.looks - 1))
        return min(queries, math.ceil(grown))


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a system was stopped."""

    look: int
    n: int
    """Queries common with the leader."""
    leader: str
    difference: float
    """The mean minus that of the leader, higher being better."""
    p: float
    """One-sided."""


@dataclass
class Contest:
    """Systems on the same queries, of which the best is looked for."""

    name: str
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    """The queries in the order of the draw."""
    clusters: Mapping[str, Hashable] = field(default_factory=dict)
    rounds: list[int] = field(default_factory=list)
    """The number of queries after each round."""
    asked: dict[str, int] = field(default_factory=dict)
    """System -> the number of its queries."""
    stopped: dict[str, Stop] = field(default_factory=dict)
    behind: tuple[str, ...] = ()
    """Systems that wait for those that are closer to the leader."""
    leader: str = ""
    state: State = "open"
    gaps: dict[tuple[str, str, int], Gap | None] = field(default_factory=dict, repr=False)
    """The differences so far, by the systems and the number of their common queries."""

    @classmethod
    def of(
        cls,
        name: str,
        systems: Iterable[str],
        queries: Iterable[str],
        clusters: Mapping[str, Hashable] | None = None,
        *,
        seed: int = 0,
    ) -> Contest:
        """Return a contest on some queries, in the random order of a seed."""
        ids = sorted(queries)
        order = np.random.default_rng(seed).permutation(len(ids)).tolist()
        names = tuple(systems)
        drawn = tuple(ids[place] for place in order)
        return cls(name, names, drawn, clusters or {}, asked=dict.fromkeys(names, 0))

    @property
    def drawn(self) -> int:
        """Queries drawn so far."""
        return self.rounds[-1] if self.rounds else 0

    @property
    def left(self) -> tuple[str, ...]:
        """The systems that are not stopped."""
        return tuple(name for name in self.systems if name not in self.stopped)

    @property
    def active(self) -> tuple[str, ...]:
        """The systems of the next round."""
        return tuple(name for name in self.left if name not in self.behind)

    @property
    def answers(self) -> int:
        """Answers so far, of all systems."""
        return sum(self.asked.values())

    def queries_of(self, system: str) -> tuple[str, ...]:
        """Return the queries of a system so far."""
        return self.queries[: self.asked[system]]

    def cost(self, end: int) -> int:
        """Return the answers that the next round up to a number of queries needs."""
        return sum(max(0, end - self.asked[name]) for name in self.active)

    def draw(self, end: int) -> None:
        """Add a round up to a number of queries."""
        self.asked |= dict.fromkeys(self.active, end)
        self.rounds.append(end)

    def facts(self, rules: AdaptiveRules) -> dict[str, Any]:
        """Return the decisions, as plain data; its keys are in docs/campaigns.md."""
        return {
            "state": self.state,
            "leader": self.leader,
            "left": list(self.left),
            "behind": list(self.behind),
            "stopped": {name: asdict(why) for name, why in self.stopped.items()},
            "rounds": list(self.rounds),
            "queries": len(self.queries),
            "asked": dict(self.asked),
            "answers": self.answers,
            "level": rules.level(len(self.systems)),
        }


Ask: TypeAlias = Callable[[], Mapping[str, Values]]
"""Asks the drawn queries that were not asked; returns contest -> the values of all its rounds."""


def run_contests(contests: Sequence[Contest], rules: AdaptiveRules, ask: Ask) -> int:
    """Draw and ask round after round until all contests are decided or the budget is spent.

    Contests without a decision share the rest of the budget. The whole
    budget, in answers, is returned.
    """
    whole = sum(len(one.systems) * len(one.queries) for one in contests)
    budget = math.floor(rules.share * whole + 1e-9)
    for look in range(1, rules.looks + 1):
        ends = _ends(contests, rules, look, budget)
        drawn = [one for one in contests if ends.get(one.name, 0) > one.drawn]
        for one in drawn:
            one.draw(ends[one.name])
        values = ask() if drawn else {}
        for one in drawn:
            decide(one, values[one.name], rules, look)
        spent = sum(one.answers for one in contests) / budget if budget else 1.0
        for one in drawn:
            focus(one, values[one.name], spent)
    for one in contests:
        if one.state == "open":
            one.state = "budget"
    return budget


def _ends(
    contests: Sequence[Contest], rules: AdaptiveRules, look: int, budget: int
) -> dict[str, int]:
    """Return contest -> its queries after the next round, as far as the budget reaches."""
    free = [one for one in contests if one.state == "open"]
    left = budget - sum(one.answers for one in contests)
    ends = {one.name: max(one.drawn, rules.planned(len(one.queries), look)) for one in free}
    if sum(one.cost(ends[one.name]) for one in free) <= left:
        return ends
    # The rest of the budget pays for a part of the round only; each contest has the same share.
    parts = {one.name: ends[one.name] - one.drawn for one in free}

    def shortened(part: int) -> dict[str, int]:
        return {one.name: one.drawn + parts[one.name] * part // 1000 for one in free}

    def cost(part: int) -> int:
        ends = shortened(part)
        return sum(one.cost(ends[one.name]) for one in free)

    return shortened(bisect_right(range(1, 1000), left, key=cost))


def decide(contest: Contest, values: Values, rules: AdaptiveRules, look: int) -> None:
    """Stop the systems that are worse than the leader, and note if the contest is decided."""
    level, close = rules.level(len(contest.systems)), list[bool]()
    means = {name: _mean(values[name]) for name in contest.active}
    contest.leader = leader = max(means, key=lambda name: means[name])
    for name in contest.left:
        gap = gap_to(contest, name, leader, values) if name != leader else None
        if gap is None:
            close.append(name == leader)
        elif gap.mean < 0 and gap.p <= level:
            contest.stopped[name] = Stop(look, gap.n, leader, gap.mean, gap.p)
        else:
            close.append(rules.margin is not None and gap.is_within(rules.margin, 1 - 2 * level))
    if len(contest.left) == 1:
        contest.state = "decided"
    elif all(close):
        contest.state = "equivalent"
    elif all(contest.asked[name] == len(contest.queries) for name in contest.left):
        contest.state = "complete"


def focus(contest: Contest, values: Values, spent: float) -> None:
    """Let the systems wait that are far behind the leader, the more of them the more is spent."""
    chances = {
        name: gap.p if gap.mean < 0 else 1 - gap.p
        for name in contest.left
        if name != contest.leader and (gap := gap_to(contest, name, contest.leader, values))
    }
    in_order = sorted(chances, key=lambda name: -chances[name])
    close = [name for name in in_order if chances[name] > BEHIND]
    most = max(1, math.ceil(len(contest.systems) ** (1 - spent)) - 1)
    kept = (close or in_order)[:most]
    contest.behind = tuple(name for name in in_order if name not in kept)


def _mean(values: Mapping[str, float]) -> float:
    return math.fsum(values.values()) / len(values) if values else -math.inf


@dataclass(frozen=True)
class Gap:
    """The differences of a system from the leader on their common queries."""

    sums: Floats
    sizes: Floats
    n: int

    @cached_property
    def mean(self) -> float:
        """The mean difference; negative if the leader is better."""
        return float(self.sums.sum()) / self.n

    @cached_property
    def p(self) -> float:
        """One-sided, in the direction of the difference."""
        return cluster_test(self.sums, self.sizes, None, None)[0] / 2

    def is_within(self, margin: float, confidence: float) -> bool:
        """Return whether the interval of the mean difference is within a margin around 0."""
        interval = cluster_test(self.sums, self.sizes, confidence, None)[1]
        return interval is not None and -margin < interval[0] and interval[1] < margin


def gap_to(contest: Contest, system: str, leader: str, values: Values) -> Gap | None:
    """Return the differences of two systems on their common queries; None without one."""
    common = min(contest.asked[system], contest.asked[leader])
    place = system, leader, common
    if place not in contest.gaps:
        first, other = values[leader], values[system]
        ids = [q for q in contest.queries[:common] if q in first and q in other]
        gaps = np.array([other[q] - first[q] for q in ids], dtype=np.float64)
        sums, sizes = cluster_sums(gaps, clusters_of(ids, contest.clusters))
        contest.gaps[place] = Gap(sums, sizes, len(ids)) if ids else None
    return contest.gaps[place]


def estimate(
    contest: Contest,
    values: Mapping[str, float],
    rules: AdaptiveRules,
    bounds: Interval | None = UNIT,
) -> Summary:
    """Return the mean of a system, with a 95 % interval that holds whenever the system stops.

    It is the interval at the level of 5 % divided by the looks.
    """
    names = clusters_of(values, contest.clusters)
    confidence = 1 - 0.05 / rules.looks
    return summarise(list(values.values()), clusters=names, confidence=confidence, bounds=bounds)
