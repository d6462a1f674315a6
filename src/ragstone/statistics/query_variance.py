"""Variance components by query: query, query x factor, residual and repeat, by moments.

The mean squares of orthogonal or overlapping projections are set equal to their expectations,
which are sums of the components with known coefficients (Searle, Casella and McCulloch 1992,
chapter 5). On a balanced design this is the analysis of variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.crossed_design import CrossedDesign, QueryStratum
from ragstone.statistics.effect_terms import Terms

QUERY: Final = "query"
RESIDUAL: Final = "residual"
REPEAT: Final = "repeat"


@dataclass(frozen=True, slots=True)
class Components:
    """Variances by query, none below 0."""

    named: tuple[tuple[tuple[str, ...], float], ...]
    """(factors, variance): query, query x factor, residual, repeat."""

    @property
    def total(self) -> float:
        """The sum."""
        return sum(variance for _, variance in self.named)

    def of(self, *names: str) -> float:
        """Return a component; 0.0 if the design has none of this name."""
        return dict(self.named).get(names, 0.0)


@dataclass(frozen=True, slots=True)
class QueryVariance:
    """Quadratic forms of a query's scores, and their expectations in the components."""

    names: tuple[tuple[str, ...], ...]
    bases: tuple[Floats, ...]
    """Orthonormal, shape (cells, dimensions): one per component but the last."""
    spanned: Floats
    """Orthonormal basis of all of them: the residual is outside."""
    inverse: Floats
    """Mean squares -> components."""
    repeated: bool
    """Whether repeats separate their variance from the last component's."""

    @classmethod
    def of(cls, design: CrossedDesign, terms: Terms) -> QueryVariance:
        """Return the forms of a design: a component per factor if its cells leave a residual."""
        count = len(design.cells)
        dummies = {
            factor.name: np.eye(len(factor.levels))[design.cells[:, place]]
            for place, factor in enumerate(design.factors)
            if terms.of(factor.name) is not None
        }
        ones = np.ones((count, 1)) / np.sqrt(count)
        bases = [ones, *(_basis(d - d.mean(axis=0)) for d in dummies.values())]
        kernels = [np.ones((count, 1)), *dummies.values()]
        names = [(QUERY,), *((QUERY, name) for name in dummies)]
        spanned = _basis(np.column_stack(bases))
        expected = _expectations(bases, kernels, spanned, count)
        # Without cells to spare, the query and the residual are the only separable components.
        if spanned.shape[1] == count or np.linalg.matrix_rank(expected) < len(expected):
            bases, kernels, names, spanned = bases[:1], kernels[:1], names[:1], ones
            expected = _expectations(bases, kernels, spanned, count)
        if count > 1:
            names.append((RESIDUAL,))
        inverse = np.asarray(np.linalg.inv(expected), dtype=np.float64)
        repeated = design.repeat_variance is not None
        return cls(tuple(names), tuple(bases), spanned, inverse, repeated)

    def parts(self, centred: Floats, stratum: QueryStratum) -> Floats:
        """Return the squares of each query, one column per form, and those within its cells."""
        within = np.column_stack([stratum.within, stratum.freedom])
        return np.column_stack([self._squares(centred), within])

    def _squares(self, rows: Floats) -> Floats:
        found = [((rows @ basis) ** 2).sum(axis=1) for basis in self.bases]
        if len(self.names) > len(self.bases):
            found.append((rows**2).sum(axis=1) - ((rows @ self.spanned) ** 2).sum(axis=1))
        return np.column_stack(found)

    def mean_squares(self, sums: Floats, shift: Floats, clusters: int) -> Floats:
        """Return the mean squares around resampled means, and the variance within cells.

        `sums` has the sums of `parts` and of the queries; `shift` the deviation of each cell's
        resampled mean from the mean around which the squares were taken.
        """
        n = sums[:, -1:]
        around = sums[:, :-3] - n * self._squares(shift)
        within = sums[:, -3] / np.maximum(sums[:, -2], 1.0)
        return np.column_stack([around / (n * (1 - 1 / clusters)), within])

    def solve(self, mean_squares: Floats, repeats: float) -> Floats:
        """Return the components, which may be negative, of rows of mean squares."""
        found = mean_squares[:, :-1] @ self.inverse.T
        if not self.repeated:
            return found
        within = mean_squares[:, -1]
        found[:, -1] -= within / repeats
        return np.column_stack([found, within])

    def of_stratum(self, stratum: QueryStratum) -> Floats:
        """Return the mean squares of a data set, shape (1, forms)."""
        centred = stratum.scores - stratum.scores.mean(axis=0)
        parts = np.column_stack([self.parts(centred, stratum), np.ones(len(centred))])
        clusters = max(2, int(stratum.clusters.max()) + 1)
        sums = parts.sum(axis=0, keepdims=True)
        return self.mean_squares(sums, np.zeros((1, centred.shape[1])), clusters)

    def components(self, design: CrossedDesign) -> Components:
        """Return the components of a design, averaged over its data sets."""
        rows = [self.of_stratum(stratum) for stratum in design.strata]
        found = np.maximum(self.solve(np.mean(rows, axis=0), design.repeats)[0], 0.0)
        names = (*self.names, (REPEAT,)) if self.repeated else self.names
        return Components(tuple(zip(names, found.tolist(), strict=True)))


def _basis(columns: Floats) -> Floats:
    """Return an orthonormal basis of the space of some columns."""
    left, values, _ = (np.asarray(one) for one in np.linalg.svd(columns, full_matrices=False))
    found: Floats = left[:, values > values.max(initial=0.0) * 1e-9]
    return found


def _expectations(
    bases: Sequence[Floats], kernels: Sequence[Floats], spanned: Floats, count: int
) -> Floats:
    """Return the coefficient of each component (column) in each mean square (row)."""
    identity = count > 1
    rows = []
    for basis in bases:
        row = [float(((kernel.T @ basis) ** 2).sum()) for kernel in kernels]
        rows.append([*row, float(basis.shape[1])] if identity else row)
    if identity:
        rest = [float((k**2).sum() - ((k.T @ spanned) ** 2).sum()) for k in kernels]
        rows.append([*rest, float(count - spanned.shape[1])])
    return np.array(rows)
