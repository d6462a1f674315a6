"""The charts of causes and of gains: stacked bars of causes, rows of the gains of perfect steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ragstone.causes.gains import STEPS
from ragstone.causes.order import CauseName
from ragstone.results.causes.found import CauseCounts, FoundCauses
from ragstone.results.causes.gains import Gain
from ragstone.results.charts import bars, parts
from ragstone.results.charts.bars import Look, bars_chart
from ragstone.results.charts.means import rows_chart
from ragstone.results.charts.parts import Spec

_JOIN: Final = " \N{MIDDLE DOT} "
_BLUE, _ORANGE, _GREEN, _PINK, _YELLOW, _SKY, _DARK, _GREY = zip(
    parts.SERIES, parts.ON_SERIES, strict=True
)
LOOKS: Final[Mapping[CauseName, Look]] = {
    "query_rewriting": Look(*_SKY, bars.RISING),
    "retrieval_miss": Look(*_BLUE, bars.PLAIN),
    "ranking": Look(*_BLUE, bars.RISING),
    "reranking": Look(*_SKY, bars.CROSSED),
    "processing": Look(*_SKY, bars.DASHES),
    "distraction": Look(*_ORANGE, bars.PLAIN),
    "reading": Look(*_ORANGE, bars.DOTS),
    "knowledge_conflict": Look(*_YELLOW, bars.FALLING),
    "missed_refusal": Look(*_PINK, bars.PLAIN),
    "false_refusal": Look(*_PINK, bars.UPRIGHT),
    "failure": Look(*_DARK, bars.PLAIN),
    "label_suspect": Look(*_GREEN, bars.DOUBLE),
    "undecided": Look(*_GREY, bars.CROSSED),
}
"""How each cause is drawn, in the order of the pipeline; those of one stage share a colour."""


def causes_chart(title: str, found: FoundCauses, counts: Iterable[CauseCounts]) -> Spec | None:
    """Return a stacked bar per trial with wrong answers, each answer under its one base cause."""
    rows = {
        f"{one.system}{_JOIN}{one.setting}": Counter(
            cause.base for cause in found.of(one.system, one.setting)
        )
        for one in counts
        if one.wrong
    }
    looks = {
        name.replace("_", " "): look
        for name, look in LOOKS.items()
        if any(name in causes for causes in rows.values())
    }
    named = {
        row: {name.replace("_", " "): causes[name] for name in LOOKS if causes[name]}
        for row, causes in rows.items()
    }
    return bars_chart(title, named, looks) if rows else None


def gains_chart(title: str, points: Sequence[Spec], prefix: str = "g") -> Spec | None:
    """Return a row per step with a point per trial; `points` are those of `gain_points`."""
    if not points:
        return None
    low, high = parts.means_domain(points)
    titles = {"row": "Perfect step", "name": "System and setting"}
    domain = (min(low, 0.0), max(high, 0.0))
    return rows_chart(points, titles, title, domain=domain, prefix=prefix)


def gain_points(gains: Iterable[Gain]) -> list[Spec]:
    """Return the points of gains, in the order of the steps; a gain that is a bound is `at most`.

    A gain of 0 that no trial could change has no point.
    """
    return [
        _gain_point(one)
        for one in sorted(gains, key=lambda gain: STEPS.index(gain.step))
        if one.gain or one.missing_trial
    ]


def _gain_point(one: Gain) -> Spec:
    low, high = one.interval or (one.gain, one.gain)
    return {
        "row": f"{one.step} (at most)" if one.bound else one.step,
        "name": f"{one.system}{_JOIN}{one.setting}",
        "mean": one.gain,
        "low": low,
        "high": high,
        "n": one.n,
        "failed": 0,
        "has_interval": one.interval is not None,
        "bound": one.bound,
    }
