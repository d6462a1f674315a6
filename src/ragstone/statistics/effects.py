"""Effects: which factor moves a score, by how much, and how much queries differ.

The model, for query q of data set d under the cell c of a crossed design:

    score(q, c) = mean + effects of the factors and of their interactions      (fixed)
                  + query(q) + (query x factor)(q, level) for each factor      (random)
                  + residual(q, c) + repeat(q, c, r)                           (random)

**Fixed effects** are means over queries, with every level and every data set counting the same. The
variance of a term is that of its effects over the levels of the design (the finite-population
variance of Gelman, "Analysis of variance", Annals of Statistics 33, 2005), less the variance
that the sampling of queries adds, as omega squared does (Hays 1963). **Random effects** are
variance components by the method of moments, pooled over data sets: each mean square is set equal
to its expectation (Searle, Casella and McCulloch, "Variance Components", 1992). If every
combination has a cell and no component is negative, these are the REML estimates. The share of a
term is its variance over the sum of all (Nakagawa and Schielzeth 2013 divide in the same way).

**Intervals** come from a bootstrap over queries, or over clusters of them, within data sets. They
assume no distribution, and hold for 0/1 scores too (a linear probability model). The length of a
vector of noisy effects is biased upwards, so the interval of a fixed term has the lengths under
which the observed one is neither too large nor too small, as for a noncentral chi-squared
variable (Steiger 2004), with the resampled noise in place of that distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final, Literal, TypeAlias, TypedDict

import numpy as np

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.cell_means import CellMeans, Interval, error_free_lengths, resampled_means
from ragstone.statistics.crossed_design import CrossedDesign
from ragstone.statistics.effect_terms import Terms, terms_of
from ragstone.statistics.marginal_means import LevelMean, level_means
from ragstone.statistics.mixed_model import fit_mixed_model
from ragstone.statistics.proportions import t_quantile
from ragstone.statistics.query_variance import Components, QueryVariance
from ragstone.statistics.resampling import Bootstrap

DATA: Final = "data"
"""The factor that queries are nested in."""
OTHER: Final = "other interactions"
Method: TypeAlias = Literal["moments", "reml"]
_NORMAL: Final = NormalDist()
_ROUNDING: Final = 1e-24
_TINY: Final = float(np.finfo(float).tiny)


@dataclass(frozen=True, slots=True)
class EffectShare:
    """The part of a factor or an interaction in the variance of single scores."""

    factors: tuple[str, ...]
    """One for a main effect, several for an interaction."""
    variance: float
    variance_share: float
    interval: Interval | None
    """Interval of the share; None with a single cluster of queries, or for a component by REML."""
    random: bool = False
    """Whether it varies by query or repeat."""

    @property
    def name(self) -> str:
        """The factors, with `x` between them."""
        return " x ".join(self.factors)

    @property
    def is_interaction(self) -> bool:
        """Whether it is of several factors."""
        return len(self.factors) > 1 or self.factors == (OTHER,)


@dataclass(frozen=True, slots=True)
class Effects:
    """Shares of variance, and marginal means."""

    mean: float
    total_variance: float
    shares: tuple[EffectShare, ...]
    """The largest first."""
    means: tuple[LevelMean, ...]
    aliased: tuple[tuple[str, ...], ...]
    """Factors and interactions that these cells cannot separate from others."""
    components: Components = field(repr=False)
    method: Method
    confidence: float


class EffectOptions(TypedDict, total=False):
    """The options of `effects`, for functions that pass them on."""

    method: Method
    confidence: float
    resamples: int
    seed: int


def effects(
    design: CrossedDesign,
    *,
    method: Method = "moments",
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Effects:
    """Return the effects of factors and queries on the scores of a design.

    The method `moments` needs complete queries, and `reml` is a fit by statsmodels, which takes
    incomplete ones too.

    Raises:
        MissingDependency: the method is `reml`, and statsmodels is not installed.

    >>> from ragstone.statistics.crossed_design import crossed_design
    >>> found = effects(crossed_design([0, 1, 0, 1, 1, 1], list("aabbcc"), {"r": list("xyxyxy")}))
    >>> [(one.level, round(one.mean, 3)) for one in found.means]
    [('x', 0.333), ('y', 1.0)]
    """
    terms = terms_of(design)
    bootstrap = Bootstrap(confidence, resamples, seed)
    if method == "reml":
        cells, components = fit_mixed_model(design, terms, bootstrap)
        random = None
    else:
        queries = QueryVariance.of(design, terms)
        cells, random = resampled_means(design, queries, bootstrap)
        components = queries.components(design)
    fixed = _fixed(terms, cells)
    variances = [max(0.0, one.squared - one.noise) for one in fixed]
    total = sum(variances) + components.total
    # Equal scores differ by rounding alone.
    total = total if total > _ROUNDING * float((cells.means**2).max()) else 0.0
    totals = _totals(fixed, components, random)
    wider = Bootstrap(_expanded(confidence, cells.freedom), resamples, seed)
    shares = []
    for one, variance in zip(fixed, variances, strict=True):
        share = variance / total if total else 0.0
        interval = _share_interval(one.lengths, totals, wider, share)
        shares.append(EffectShare(one.factors, variance, share, interval))
    for place, (names, variance) in enumerate(components.named):
        share = variance / total if total else 0.0
        drawn = None if random is None else random[:, place]
        interval = _share_interval(drawn, totals, wider, share)
        shares.append(EffectShare(names, variance, share, interval, random=True))
    return Effects(
        mean=float(cells.means.mean(axis=0) @ terms.mean),
        total_variance=total,
        shares=tuple(sorted(shares, key=lambda one: -one.variance_share)),
        means=tuple(level_means(design, terms, cells, DATA, confidence)),
        aliased=terms.aliased,
        components=components,
        method=method,
        confidence=confidence,
    )


def _expanded(confidence: float, freedom: tuple[int, ...]) -> float:
    """Return the level of percentiles that are as wide as Student's t (Hesterberg 2015)."""
    wide = t_quantile((1 + confidence) / 2, max(1, sum(freedom)))
    return min(2 * _NORMAL.cdf(wide) - 1, 1 - 1e-9)


@dataclass(frozen=True, slots=True)
class _FixedTerm:
    factors: tuple[str, ...]
    squared: float
    """Squared length of the estimated effects, as a variance."""
    noise: float
    """The part of it that the sampling of queries adds, on average."""
    lengths: Floats | None
    """Draws of the squared length, whose quantiles are the interval."""


def _fixed(terms: Terms, cells: CellMeans) -> list[_FixedTerm]:
    """Return every fixed term; with several data sets also their effects and interactions."""
    count, means, drawn = len(cells.means), cells.means, cells.drawn
    maps: list[tuple[tuple[str, ...], Floats, bool]] = [((), terms.mean[None, :], False)]
    maps += [(term.factors or (OTHER,), term.scaled, True) for term in terms.effects]
    found = []
    for names, scaled, is_term in maps:
        now, noise = means @ scaled.T, float(cells.noise(scaled).mean())
        resampled = None if drawn is None else drawn @ scaled.T
        if is_term:
            mean = None if resampled is None else resampled.mean(axis=1)
            found.append(_fixed_term(names, now.mean(axis=0), noise / count, mean))
        if count > 1 and names != (OTHER,):
            # The squared length of the deviations over data sets, each counting the same.
            apart = ((now - now.mean(axis=0)) / np.sqrt(count)).ravel()
            deviations = None
            if resampled is not None:
                deviations = resampled - resampled.mean(axis=1, keepdims=True)
                deviations = deviations.reshape(len(resampled), -1) / np.sqrt(count)
            rest = noise * (1 - 1 / count)
            found.append(_fixed_term((DATA, *names), apart, rest, deviations))
    return found


def _fixed_term(
    names: tuple[str, ...], vector: Floats, noise: float, drawn: Floats | None
) -> _FixedTerm:
    squared = float(vector @ vector)
    lengths = None if drawn is None else error_free_lengths(vector, drawn) ** 2
    return _FixedTerm(names, squared, noise, lengths)


def _totals(
    fixed: list[_FixedTerm], components: Components, random: Floats | None
) -> Floats | None:
    """Return draws of the whole variance; None if there are none."""
    lengths = [one.lengths for one in fixed if one.lengths is not None]
    if random is None and not lengths:
        return None
    total = np.full(1, components.total) if random is None else random.sum(axis=1)
    for one in lengths:
        total = total + one
    return np.asarray(np.maximum(total, _TINY))


def _share_interval(
    part: Floats | None, total: Floats | None, bootstrap: Bootstrap, share: float
) -> Interval | None:
    """Return the interval of a share, which contains the share."""
    if part is None or total is None:
        return None
    found = bootstrap.interval(part / total)
    if found is None:
        return None
    low, high = (min(max(bound, 0.0), 1.0) for bound in found)
    return min(low, share), max(high, share)
