"""Where the next calls narrow an interval most: queries, repeats, prompts or judges.

This is the decision study of generalisability theory (Cronbach et al. 1972; Brennan,
"Generalizability Theory", 2001). Prompts and judges count as samples of those that could have been
used, as queries do. Each source of variance is divided by the numbers that it is averaged over:

    variance of a mean = (query + query x system) / queries + (prompt + system x prompt) / prompts
                         + (judge + system x judge) / judges + (query x prompt) / (queries prompts)
                         + (query x judge) / (queries judges) + (prompt x judge) / (prompts judges)
                         + residual / (queries prompts judges) + repeat / (queries prompts repeats)

Sources without the system fall out of the difference of two systems, and the others count twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

from ragstone.errors import ConfigError
from ragstone.statistics.crossed_design import CrossedDesign
from ragstone.statistics.effects import Effects, effects
from ragstone.statistics.query_variance import REPEAT, RESIDUAL

PROMPT: Final = "prompt"
JUDGE: Final = "judge"
SYSTEM: Final = "system"
Estimand: TypeAlias = Literal["difference", "mean"]
_UNKNOWN: Final = {
    "repeats": "there are no repeats, so that their variance is part of the residual",
    "prompts": "the variance between prompts is unknown with one prompt",
    "judges": "the variance between judges is unknown with one judge",
    "no judge": "no judge is called for this metric",
    "no calls": "no model is called for this metric",
}
_NORMAL: Final = NormalDist()
_MORE: Final = {"repeats": 9, "prompts": 4, "judges": 4}
"""Steps upwards that the best mix tries."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many queries, repeats, prompts and judges a mean is averaged over."""

    queries: float
    repeats: float
    prompts: float
    judges: float


@dataclass(frozen=True, slots=True)
class VarianceSource:
    """A source of variance of single scores, with the numbers by which a mean divides it."""

    name: str
    variance: float
    divided_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AllocationOption:
    """The interval after one use of the calls."""

    more: str
    sizes: Sizes
    half_width: float | None
    """None if the variance of the source is unknown."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Allocation:
    """The half width of an interval now, and after each use of some calls."""

    calls: int
    estimand: Estimand
    systems: int
    sizes: Sizes
    half_width: float
    sources: tuple[VarianceSource, ...]
    options: tuple[AllocationOption, ...]
    """The narrowest first."""
    best: AllocationOption | None
    """The best mix in whole numbers; None if the calls are too few for a whole query."""


def allocation(
    design: CrossedDesign,
    *,
    calls: int = 1_000,
    judged: bool = False,
    generated: bool = True,
    confidence: float = 0.95,
) -> Allocation:
    """Return where the next calls narrow the interval of a difference of two systems most.

    Of a single system, the interval is that of its mean.

    Args:
        design: its factors `prompt` and `judge` are samples; all other factors are the system.
        calls: number of model calls, spread over all systems.
        judged: whether a judge is called for each answer; judges as a factor are.
        generated: whether a model is called for each answer.
        confidence: of the interval.

    Raises:
        ConfigError: `calls` is less than 1.
    """
    if calls < 1:
        raise ConfigError(f"calls {calls} is less than 1; 1,000 is usual")
    merged = design.merged((PROMPT, JUDGE), SYSTEM)
    counts = {factor.name: len(factor.levels) for factor in merged.factors}
    sizes = Sizes(design.n, design.repeats, counts.get(PROMPT, 1), counts.get(JUDGE, 1))
    systems = counts.get(SYSTEM, 1)
    of: Estimand = "difference" if systems > 1 else "mean"
    sources = tuple(_sources(effects(merged, resamples=1), counts, of))
    judged = judged or JUDGE in counts
    study = _Study(sources, systems, judged, generated, _NORMAL.inv_cdf((1 + confidence) / 2))
    options = [_option(study, sizes, name, calls, merged) for name in Sizes.__dataclass_fields__]
    options.sort(key=lambda one: math.inf if one.half_width is None else one.half_width)
    width = study.half_width(sizes)
    known = {one.more for one in options if one.half_width is not None}
    best = _best(study, sizes, calls, known) if width else None
    return Allocation(calls, of, systems, sizes, width, sources, tuple(options), best)


@dataclass(frozen=True, slots=True)
class _Study:
    sources: tuple[VarianceSource, ...]
    systems: int
    judged: bool
    generated: bool
    wide: float

    def half_width(self, sizes: Sizes) -> float:
        """Return half of the interval's width; fractions of a number count as steps to it."""
        held = {name: _inverse(getattr(sizes, name)) for name in Sizes.__dataclass_fields__}
        parts = (
            source.variance * math.prod(held[name] for name in source.divided_by)
            for source in self.sources
        )
        return self.wide * math.sqrt(sum(parts))

    def calls(self, sizes: Sizes) -> float:
        """Return the calls of a whole study."""
        each = (1 if self.generated else 0) + (sizes.judges if self.judged else 0)
        return self.systems * sizes.queries * sizes.prompts * sizes.repeats * each


def _inverse(number: float) -> float:
    """Return 1 / number; between whole numbers, the mean of those that some queries have.

    >>> _inverse(2), round(_inverse(1.5), 3)
    (0.5, 0.75)
    """
    low = math.floor(number)
    part = number - low
    return (1 - part) / low + part / (low + 1)


def _sources(found: Effects, counts: Mapping[str, int], of: Estimand) -> list[VarianceSource]:
    """Return the sources of variance of the estimand."""
    fixed = {one.factors: one.variance for one in found.shares if not one.random}
    random = {one.factors: one.variance for one in found.shares if one.random}
    every = [(names, value, {"queries"}) for names, value in random.items()]
    every += [(names, value, set()) for names, value in fixed.items()]
    sources = []
    for names, value, known in every:
        divisors = known | {f"{facet}s" for facet in (PROMPT, JUDGE) if facet in names}
        if names == (RESIDUAL,):
            divisors |= {f"{facet}s" for facet in (PROMPT, JUDGE) if facet in counts}
        if names == (REPEAT,):
            divisors |= {"repeats"} | ({"prompts"} if PROMPT in counts else set())
        if not divisors or any(name not in {*counts, "query", RESIDUAL, REPEAT} for name in names):
            continue
        variance = value
        if not known:
            # From the levels at hand to those that could have been drawn.
            for name in names:
                variance *= counts[name] / (counts[name] - 1)
        with_system = SYSTEM in names or names in {(RESIDUAL,), (REPEAT,)}
        if of == "difference":
            variance = 2 * variance if with_system else 0.0
        if variance:
            order = tuple(name for name in Sizes.__dataclass_fields__ if name in divisors)
            sources.append(VarianceSource(" x ".join(names), variance, order))
    return sources


def _option(
    study: _Study, sizes: Sizes, more: str, calls: int, design: CrossedDesign
) -> AllocationOption:
    """Return the interval after all calls are spent on one kind."""
    counts = {factor.name for factor in design.factors}
    reason = ""
    if more == "repeats" and design.repeat_variance is None:
        reason = _UNKNOWN["repeats"]
    if more == "prompts" and PROMPT not in counts:
        reason = _UNKNOWN["prompts"]
    if more == "judges" and JUDGE not in counts:
        reason = _UNKNOWN["judges" if study.judged else "no judge"]
    if not study.generated and not study.judged:
        reason = _UNKNOWN["no calls"]
    if reason:
        return AllocationOption(more, sizes, None, reason)
    before, held = study.calls(sizes), getattr(sizes, more)
    # The calls grow in proportion to each number; of judges, only their own calls do.
    step = study.calls(replace(sizes, **{more: held + 1})) - before
    grown = replace(sizes, **{more: held + calls / step})
    return AllocationOption(more, grown, study.half_width(grown))


def _best(study: _Study, sizes: Sizes, calls: int, known: set[str]) -> AllocationOption | None:
    """Return the best mix in whole numbers, with the rest of the calls spent on queries."""
    if "queries" not in known:
        return None
    budget = study.calls(sizes) + calls
    steps = [range(_MORE[name] + 1 if name in known else 1) for name in _MORE]
    found: list[tuple[float, Sizes]] = []
    for more in product(*steps):
        grown = replace(
            sizes,
            **{name: getattr(sizes, name) + n for name, n in zip(_MORE, more, strict=True)},
        )
        queries = math.floor(budget / study.calls(replace(grown, queries=1)))
        if queries >= sizes.queries:
            grown = replace(grown, queries=queries)
            found.append((study.half_width(grown), grown))
    if not found:
        return None
    width, grown = min(found, key=lambda one: one[0])
    changed = [n for n in Sizes.__dataclass_fields__ if getattr(grown, n) != getattr(sizes, n)]
    return AllocationOption(" and ".join(changed), grown, width) if changed else None
