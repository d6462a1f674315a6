"""`ragstone effects`: shares of variance, marginal means, and where more calls help most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Unpack

from ragstone.core.tables import TextTable
from ragstone.core.text_plot import plot_intervals
from ragstone.results.crossed.notes import effect_notes
from ragstone.results.crossed.report import PLOT, CrossedReport
from ragstone.results.crossed.scores import METRIC, CrossedScores
from ragstone.results.wording import ABSENT, interval_text, number
from ragstone.statistics.allocation import Allocation, AllocationOption, Sizes, allocation
from ragstone.statistics.crossed_design import CrossedDesign
from ragstone.statistics.effects import EffectOptions, Effects, EffectShare, Method, effects
from ragstone.types import brief

_NEGLIGIBLE: Final = 0.0005
"""Interactions with a smaller share and an interval that contains 0 are counted, not shown."""
_NOUNS: Final = {"queries": "query", "repeats": "repeat", "prompts": "prompt", "judges": "judge"}


@dataclass(frozen=True)
class EffectsReport(CrossedReport):
    """The effects of factors on a metric."""

    design: CrossedDesign
    effects: Effects
    allocation: Allocation | None
    """None for metrics as levels of a factor, and for the method reml."""
    method: Method

    def __repr__(self) -> str:
        """Return one line: the metric, the factors and n."""
        names = ", ".join(factor.name for factor in self.design.factors)
        return brief(self, self.scores.metric, names, f"{self.design.n:,} queries")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded; docs/effects.md lists the keys."""
        found = self.effects
        mains = [one for one in found.shares if not one.is_interaction]
        crossed = [one for one in found.shares if one.is_interaction]
        return {
            "metric": self.scores.metric,
            "method": self.method,
            "confidence": self.confidence,
            "mean": found.mean,
            "variance": found.total_variance,
            "n": self.design.n,
            "cells": len(self.design.cells),
            "left_out": self.design.left_out,
            "cells_left_out": self.design.cells_left_out,
            **self.without_value,
            "factors": [_share(one) for one in mains],
            "interactions": [{**_share(one), "factors": list(one.factors)} for one in crossed],
            "means": [
                {**asdict(one), "failed": self.scores.failed.get((one.factor, one.level), 0)}
                for one in found.means
            ],
            "constant": dict(self.design.constant),
            "aliased": [" x ".join(names) for names in found.aliased],
            "allocation": None if self.allocation is None else _allocation(self.allocation),
            "notes": list(self.notes),
        }

    def tables(self) -> Iterator[str | TextTable]:
        """Yield the shares, the marginal means and the allocation."""
        head = f"{self.scores.metric}: mean {number(self.effects.mean)}, "
        yield head + f"{self.design.n:,} queries in {len(self.design.cells):,} cells"
        yield self._shares()
        if self.effects.means:
            yield self._means()
        if self.allocation is not None:
            yield _allocation_table(self.allocation)

    @property
    def shown(self) -> list[EffectShare]:
        """The shares without the interactions of about 0."""
        return [one for one in self.effects.shares if _is_shown(one)]

    def _shares(self) -> TextTable:
        shown = self.shown
        plot = plot_intervals([(one.variance_share, one.interval) for one in shown], width=PLOT)
        rows = [
            [
                one.name,
                f"{one.variance_share:.1%}{_percent(one.interval)}",
                line,
                "varies by query" if one.random else "",
            ]
            for one, line in zip(shown, plot.rows, strict=True)
        ]
        hidden = len(self.effects.shares) - len(shown)
        below = [f"{hidden} interactions with a share of about 0 are in --json."] if hidden else []
        headers = ["source", "share of variance", plot.axis, ""]
        return TextTable(headers, rows, "What moves the scores", below, drawn=2)

    def _means(self) -> TextTable:
        means = self.effects.means
        plot = plot_intervals([(one.effect, one.effect_interval) for one in means], width=PLOT)
        rows = [
            [
                one.factor,
                one.level,
                f"{one.mean:.3f}{interval_text(one.interval)}",
                f"{one.effect:+.3f}{interval_text(one.effect_interval)}",
                line,
                f"{one.n:,}",
                f"{self.scores.failed.get((one.factor, one.level), 0):,}",
            ]
            for one, line in zip(means, plot.rows, strict=True)
        ]
        headers = ["factor", "level", "mean", "against all levels", plot.axis, "n", "failed"]
        title = "Marginal means, with intervals that hold together"
        return TextTable(headers, rows, title, drawn=4)


def make_effects(
    scores: CrossedScores, *, calls: int = 1_000, **options: Unpack[EffectOptions]
) -> EffectsReport:
    """Return the report on some scores; `options` are those of `effects`.

    Raises:
        ConfigError: there are too many cells, `calls` is less than 1, or `confidence` is not
            between 0 and 1.
        DatasetError: no query has a score in every cell, or the mixed model does not converge.
        MissingDependency: the method is `reml`, and statsmodels is not installed.
    """
    design = scores.design(incomplete=options.get("method") == "reml")
    found = effects(design, **options)
    spent = None
    if METRIC not in scores.factors and found.method == "moments":
        spent = allocation(
            design,
            calls=calls,
            judged=scores.judged,
            generated=scores.generated,
            confidence=found.confidence,
        )
    notes = (*effect_notes(scores, design, found, found.method), *scores.notes)
    return EffectsReport(scores, found.confidence, notes, design, found, spent, found.method)


def _share(one: EffectShare) -> dict[str, Any]:
    return {
        "name": one.name,
        "variance_share": one.variance_share,
        "interval": one.interval,
        "variance": one.variance,
        "random": one.random,
    }


def _is_shown(one: EffectShare) -> bool:
    low = one.interval[0] if one.interval else 0.0
    return not one.is_interaction or one.variance_share >= _NEGLIGIBLE or low > 0


def _percent(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" [{interval[0]:.1%}, {interval[1]:.1%}]"


def _allocation(found: Allocation) -> dict[str, Any]:
    return {
        "calls": found.calls,
        "of": found.estimand,
        "systems": found.systems,
        "now": {**asdict(found.sizes), "half_width": found.half_width},
        "options": [_option(one) for one in found.options],
        "best": None if found.best is None else _option(found.best),
        "sources": [{**asdict(one), "divided_by": list(one.divided_by)} for one in found.sources],
    }


def _option(one: AllocationOption) -> dict[str, Any]:
    return {
        "more": one.more,
        **asdict(one.sizes),
        "half_width": one.half_width,
        "reason": one.reason,
    }


def _allocation_table(found: Allocation) -> TextTable:
    what = "a difference of two systems" if found.estimand == "difference" else "the mean"
    options = [(f"more {one.more}", one) for one in found.options]
    options += [(f"best: {one.more}", one) for one in [found.best] if one is not None]
    rows = [["now", _sizes(found.sizes), _width(found.half_width), ""]]
    rows += [[name, _sizes(o.sizes), _width(o.half_width), o.reason] for name, o in options]
    title = f"Where {found.calls:,} further calls narrow the interval of {what} most"
    return TextTable(["calls for", "then", "interval", ""], rows, title)


def _width(half: float | None) -> str:
    return ABSENT if half is None else f"\N{PLUS-MINUS SIGN}{half:.4f}"


def _sizes(sizes: Sizes) -> str:
    """Return the numbers as text, those of 1 left out but for queries."""
    values: Mapping[str, float] = asdict(sizes)
    shown = [(name, value) for name, value in values.items() if value != 1 or name == "queries"]
    return ", ".join(
        f"{value:,.4g} {name if value != 1 else _NOUNS[name]}"
        if value < 1000  # noqa: PLR2004
        else f"{value:,.0f} {name}"
        for name, value in shown
    )
