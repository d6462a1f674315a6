"""The reliability diagram: the share of right answers by the confidence that a system states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragstone.results.charts import parts
from ragstone.results.charts.parts import MOST_SERIES, Spec, mean_fields
from ragstone.statistics.calibration import ConfidenceBin


def reliability_chart(bins: Mapping[str, Sequence[ConfidenceBin]]) -> Spec | None:
    """Return a point with its interval per bin, and the line on which confidence is accuracy.

    `bins` maps names to bins; the first `MOST_SERIES` names are drawn. None if there is no bin.
    """
    drawn = [(name, found) for name, found in bins.items() if found][:MOST_SERIES]
    if not drawn:
        return None
    keys = parts.series_keys(name for name, _ in drawn)
    values = [
        {"name": name, "series": keys[name], "confidence": one.confidence}
        | mean_fields(one.accuracy)
        for name, found in drawn
        for one in found
    ]
    place = {"x": _axis("confidence", "stated confidence")}
    titles = {"name": "System", "confidence": "Confidence"}
    rules, means = parts.mean_layers("y", place, keys, titles)
    numbers = "; ".join(
        f"{v['name']}: {v['mean']:.3f} right at confidence {v['confidence']:.3f}" for v in values
    )
    description = f"Share of right answers by stated confidence, with 95 % intervals. {numbers}."
    return parts.whole(description, values, [_diagonal(), rules, means], 280, keys)


def _diagonal() -> Spec:
    """Return the line of a perfect calibration."""
    return {
        "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
        "mark": {"type": "line", "strokeWidth": 1, "strokeDash": [4, 4], "color": "var(--muted)"},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
        },
    }


def _axis(field: str, title: str) -> Spec:
    found = parts.quantity(field)
    return found | {"axis": found["axis"] | {"title": title}}
