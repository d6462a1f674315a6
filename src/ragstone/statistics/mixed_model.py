"""The mixed model of incomplete queries, fitted by restricted maximum likelihood (statsmodels).

The fixed part is a mean per data set and cell. The random part is an intercept per query, and one
per query and level of each factor. Every query is a group, so that the time of a fit grows with
their number. Intervals are those of a normal distribution.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np

from ragstone.core.environment import require
from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.cell_means import CellMeans
from ragstone.statistics.crossed_design import CrossedDesign
from ragstone.statistics.effect_terms import Terms
from ragstone.statistics.query_variance import (
    QUERY,
    REPEAT,
    RESIDUAL,
    Components,
    QueryVariance,
)
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.summary import Numbers

_Scores: TypeAlias = tuple[Numbers, Numbers, Numbers, Floats]
"""The query, the data set, the cell and the value of each score."""
_BY_QUERY: Final = ("scores", "clusters", "within", "freedom")
_NOT_FITTED: Final = (
    "the mixed model does not converge on these scores; use the method moments, or fewer factors"
)
_FEW: Final = 10
"""Complete queries below which their components are no good start."""
_LEAST: Final = 1e-3
"""Least component, as a share of the residual, at the start and before it is taken for 0."""


def fit_mixed_model(
    design: CrossedDesign, terms: Terms, bootstrap: Bootstrap
) -> tuple[CellMeans, Components]:
    """Return the means of the cells with their covariances, and the components of variance.

    Raises:
        MissingDependency: statsmodels is not installed (the extra `effects`).
        DatasetError: no query has two scores, or the fit does not converge.
    """
    require("the method reml", "effects", "statsmodels")
    rows = _rows(design)
    if np.bincount(rows[0]).max() == 1:
        raise DatasetError("the method reml needs queries with two scores or more; none has two")
    varied = [place for place, one in enumerate(design.factors) if terms.of(one.name)]
    # The component of a single factor would be the residual.
    every: list[tuple[str, ...]] = [(QUERY,)]
    every += [(QUERY, design.factors[place].name) for place in varied if len(varied) > 1]
    try:
        fitted, found = _converged(design, rows, every, _start(design, terms))
    except np.linalg.LinAlgError as error:
        raise DatasetError(_NOT_FITTED) from error
    if not (fitted.converged and np.isfinite(fitted.fe_params).all()):
        raise DatasetError(_NOT_FITTED)
    return _cell_means(design, fitted, bootstrap), _components(design, found, float(fitted.scale))


def _converged(
    design: CrossedDesign,
    rows: _Scores,
    every: Sequence[tuple[str, ...]],
    start: Mapping[tuple[str, ...], float],
) -> tuple[Any, dict[tuple[str, ...], float]]:
    """Return a fit and its components; those that hinder the search at their bound are 0."""
    fitted = _fit(design, rows, every, start)
    found = _components_of(every, fitted)
    if not fitted.converged:
        scale = float(fitted.scale)
        names = [name for name in every if name == (QUERY,) or found[name] > _LEAST * scale]
        fitted = _fit(design, rows, names, {**found, (RESIDUAL,): scale})
        found = dict.fromkeys(every, 0.0) | _components_of(names, fitted)
    return fitted, found


def _start(design: CrossedDesign, terms: Terms) -> dict[tuple[str, ...], float]:
    """Return the components of the complete queries, or equal ones if these are few."""
    complete = tuple(
        replace(stratum, **{n: getattr(stratum, n)[~missing] for n in _BY_QUERY})
        for stratum in design.strata
        for missing in [np.isnan(stratum.scores).any(axis=1)]
    )
    whole = replace(design, strata=complete)
    if min(len(stratum.scores) for stratum in complete) < _FEW:
        return {}
    return dict(QueryVariance.of(whole, terms).components(whole).named)


def _fit(
    design: CrossedDesign,
    rows: _Scores,
    names: Sequence[tuple[str, ...]],
    start: Mapping[tuple[str, ...], float],
) -> Any:
    """Return a fit with some components, begun at others."""
    from statsmodels.regression.mixed_linear_model import MixedLM, MixedLMParams, VCSpec

    queries, data, cells, values = rows
    groups = np.split(cells, np.flatnonzero(np.diff(queries)) + 1)
    place = {factor.name: number for number, factor in enumerate(design.factors)}
    blocks = []
    for _, *of in names:
        if of:
            levels = len(design.factors[place[of[0]]].levels)
            dummies = np.eye(levels)[design.cells[:, place[of[0]]]]
        else:
            dummies = np.ones((len(design.cells), 1))
        blocks.append([_held(dummies[group]) for group in groups])
    columns = [[[str(c) for c in range(one.shape[1])] for one in block] for block in blocks]
    spec = VCSpec([" x ".join(name) for name in names], columns, blocks)
    count = len(design.cells)
    exog = np.eye(len(design.strata) * count)[data * count + cells]
    scale = start.get((RESIDUAL,), 0.0) or 1.0
    ratios = [max(start.get(name, scale) / scale, _LEAST) for name in names]
    begin = MixedLMParams.from_components(
        fe_params=np.zeros(exog.shape[1]), cov_re=np.empty((0, 0)), vcomp=np.array(ratios)
    )
    with warnings.catch_warnings():
        # A component at its bound has no standard error; statsmodels warns of that.
        warnings.simplefilter("ignore")
        model = MixedLM(values, exog, queries, exog_vc=spec)
        return model.fit(start_params=begin, reml=True, method=["lbfgs"])


def _components_of(names: Sequence[tuple[str, ...]], fitted: Any) -> dict[tuple[str, ...], float]:
    return dict(zip(names, np.asarray(fitted.vcomp, dtype=np.float64).tolist(), strict=True))


def _rows(design: CrossedDesign) -> _Scores:
    """Return the query, the data set, the cell and the value of each score, in order of queries."""
    parts, start = [], 0
    for place, stratum in enumerate(design.strata):
        queries, cells = np.nonzero(~np.isnan(stratum.scores))
        parts.append((queries + start, np.full(len(queries), place), cells))
        start += len(stratum.scores)
    values = np.concatenate([one.scores[~np.isnan(one.scores)] for one in design.strata])
    queries, data, cells = (np.concatenate(column) for column in zip(*parts, strict=True))
    return queries, data, cells, values


def _held(dummies: Floats) -> Floats:
    """Return the columns of the levels that a query has."""
    found: Floats = dummies[:, dummies.any(axis=0)]
    return found


def _cell_means(design: CrossedDesign, fitted: Any, bootstrap: Bootstrap) -> CellMeans:
    shape = (len(design.strata), len(design.cells))
    means = np.asarray(fitted.fe_params, dtype=np.float64)
    every = np.asarray(fitted.cov_params(), dtype=np.float64)[: len(means), : len(means)]
    drawn = np.random.default_rng(bootstrap.seed).multivariate_normal(
        means, every, bootstrap.resamples, method="eigh"
    )
    # Data sets share no query: the other blocks are 0.
    blocks = every.reshape(*shape, *shape)
    covariances = np.array([blocks[place, :, place, :] for place in range(shape[0])])
    freedom = tuple(max(1, size - 1) for size in design.clusters)
    return CellMeans(means.reshape(shape), covariances, freedom, drawn.reshape(-1, *shape))


def _components(
    design: CrossedDesign, found: dict[tuple[str, ...], float], residual: float
) -> Components:
    repeat = design.repeat_variance
    named = list(found.items())
    if repeat is None:
        return Components((*named, ((RESIDUAL,), residual)))
    rest = max(0.0, residual - repeat / design.repeats)
    return Components((*named, ((RESIDUAL,), rest), ((REPEAT,), repeat)))
