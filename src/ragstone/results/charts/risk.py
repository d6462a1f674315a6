"""The chart of risk against coverage: how often answers are wrong, by the share that is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragstone.results.charts import parts
from ragstone.results.charts.parts import MOST_SERIES, Spec

Curve = Sequence[tuple[float, float]]


def risk_chart(curves: Mapping[str, tuple[Curve, float]]) -> Spec | None:
    """Return a line of risk by coverage per name, with a point at the coverage that it has.

    `curves` maps names to pairs of coverage and risk, and to the coverage of the answers given; the
    first `MOST_SERIES` are drawn. None if no curve has points.
    """
    drawn = {name: curve for name, curve in curves.items() if curve[0]}
    drawn = dict(list(drawn.items())[:MOST_SERIES])
    if not drawn:
        return None
    keys = parts.series_keys(drawn)
    values = [
        {"name": name, "series": keys[name], "coverage": coverage, "risk": risk}
        | {"own": coverage == own}
        for name, (curve, own) in drawn.items()
        for coverage, risk in curve
    ]
    given = [value for value in values if value["own"]]
    numbers = "; ".join(f"{v['name']}: {v['risk']:.3f} at {v['coverage']:.3f}" for v in given)
    series = {"field": "series", "type": "nominal"}
    legend = {"title": None, "labelExpr": "names[datum.value]"}
    names = list(keys.values())
    colour = series | {"scale": {"domain": names, "range": list(parts.SERIES[: len(names)])}}
    shape = series | {"scale": {"domain": names, "range": list(parts.SHAPES[: len(names)])}}
    risks = parts.fitted_domain(risk for curve, _ in drawn.values() for _, risk in curve)
    place = {"x": _axis("coverage", (0, 1)), "y": _axis("risk", risks)}
    titles = {"name": "System", "coverage": "Coverage", "risk": "Risk"}
    line = {
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {**place, "color": colour | {"legend": legend}},
    }
    points = {
        "transform": [{"filter": "datum.own"}],
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
        "encoding": {
            **place,
            "color": colour | {"legend": legend},
            "shape": shape | {"legend": legend},
            "tooltip": parts.tooltip(titles),
        },
    }
    description = f"Risk against coverage. Risk of the answers that were given: {numbers}."
    return parts.whole(description, values, [line, points], 280, keys)


def _axis(field: str, domain: tuple[float, float]) -> Spec:
    titled = parts.quantity(field, domain)
    return titled | {"axis": titled["axis"] | {"title": field}}
