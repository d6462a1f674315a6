"""The terms of a crossed design as linear maps of a query's scores.

Factors have sum-to-zero coding: the effects of a factor sum to 0 over its levels, and every level
counts the same, however many cells it has. If all combinations exist, the maps of two terms are
orthogonal, so that the variances of their effects add up to the variance between cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.crossed_design import CrossedDesign, Factor
from ragstone.statistics.summary import Numbers


@dataclass(frozen=True, slots=True)
class EffectTerm:
    """A factor, or an interaction of two, with the map from scores to its effects."""

    factors: tuple[str, ...]
    """Empty for the interactions that are in no other term."""
    levels: tuple[tuple[str, ...], ...]
    estimates: Floats
    """Shape (levels, cells): times a query's scores, the effect of each level."""

    @property
    def scaled(self) -> Floats:
        """The map whose squared length is the variance of the effects."""
        found: Floats = self.estimates / np.sqrt(len(self.estimates))
        return found


@dataclass(frozen=True, slots=True)
class Terms:
    """All terms that the cells of a design can separate."""

    mean: Floats
    """Shape (cells,): times a query's scores, the mean over all combinations."""
    effects: tuple[EffectTerm, ...]
    aliased: tuple[tuple[str, ...], ...]
    """Factors and interactions that no comparison of cells can separate from the terms."""

    def of(self, *factors: str) -> EffectTerm | None:
        """Return the term of some factors, or None."""
        return next((term for term in self.effects if term.factors == factors), None)


def terms_of(design: CrossedDesign) -> Terms:
    """Return main effects, interactions of two factors, and the remainder between cells.

    A factor that changes only together with others is aliased: it has no term. So is an interaction
    whose combinations are not all there.
    """
    count = len(design.cells)
    codings = {
        (factor.name,): _coding(factor, design.cells[:, place])
        for place, factor in enumerate(design.factors)
    }
    columns = [np.ones((count, 1))]
    chosen: list[tuple[str, ...]] = [()]
    aliased: list[tuple[str, ...]] = []
    for names in [*codings, *combinations([name for (name,) in codings], 2)]:
        parts = [(name,) for name in names]
        if any(part in aliased for part in parts):
            continue
        block = codings[parts[0]]
        if len(parts) > 1:
            other = codings[parts[1]]
            block = (block[:, :, None] * other[:, None, :]).reshape(count, -1)
        tried = np.column_stack([*columns, block])
        if np.linalg.matrix_rank(tried) < tried.shape[1]:
            aliased.append(names)
            continue
        columns.append(block)
        chosen.append(names)
    whole = np.column_stack(columns)
    inverse: Floats = np.asarray(np.linalg.pinv(whole), dtype=np.float64)
    by_name = {factor.name: factor for factor in design.factors}
    effects, start = [], 1
    for names, block in zip(chosen[1:], columns[1:], strict=True):
        effects.append(_term([by_name[name] for name in names], inverse[start:][: block.shape[1]]))
        start += block.shape[1]
    if np.linalg.matrix_rank(whole) < count:
        cells = tuple(
            tuple(factor.levels[code] for factor, code in zip(design.factors, row, strict=True))
            for row in design.cells.tolist()
        )
        effects.append(EffectTerm((), cells, np.eye(count) - whole @ inverse))
    return Terms(inverse[0], tuple(effects), tuple(aliased))


def _coding(factor: Factor, codes: Numbers) -> Floats:
    """Return one column per level but the last, which is -1 in each."""
    return _contrasts(len(factor.levels))[codes]


def _contrasts(levels: int) -> Floats:
    return np.vstack([np.eye(levels - 1), -np.ones((1, levels - 1))])


def _term(factors: list[Factor], inverse: Floats) -> EffectTerm:
    """Return a term from its rows of the inverse: coefficients -> effects of all its levels."""
    matrix: Floats = _contrasts(len(factors[0].levels))
    levels: list[tuple[str, ...]] = [(level,) for level in factors[0].levels]
    for factor in factors[1:]:
        matrix = np.kron(matrix, _contrasts(len(factor.levels))).astype(np.float64)
        levels = [(*names, level) for names in levels for level in factor.levels]
    return EffectTerm(tuple(f.name for f in factors), tuple(levels), matrix @ inverse)
