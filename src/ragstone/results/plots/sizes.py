"""The plot of gains by the size of the generator's model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.errors import ConfigError, RagstoneError
from ragstone.models.bundled import MODELS
from ragstone.models.files import is_local, model_file
from ragstone.models.locate import find_model
from ragstone.models.parameters import parameter_count
from ragstone.results.charts.parts import Spec
from ragstone.results.charts.scatter import scatter_chart
from ragstone.results.plots.request import JOIN, PlotRequest, cell_fields

Charts = Iterator[tuple[str, Spec]]
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9}


def gain_by_size(request: PlotRequest) -> Charts:
    """Yield the gain of gold context over none by model size (BERGEN's Figure 5).

    With several data sets it is the mean over them, each with the same weight.
    """
    request.require_setting("none")
    metric = request.answer_metric()
    gold = [name for name in request.settings(mixed=False) if name != "none"]
    table = request.board(f"gain({metric}, none)", ("generator",), ("setting",), {"setting": gold})
    sizes = model_sizes(request)
    points, unknown = [], []
    for (row, column), cell in table.cells.items():
        if cell.summary.mean is None:
            continue
        size = sizes.get(row[0])
        if size is None:
            unknown.append(row[0])
            continue
        across = {"x": size, "x_low": size, "x_high": size, "data": list(cell.data)}
        points.append({"label": row[0], "name": JOIN.join(column), **across, **cell_fields(cell)})
    if not points:
        names = ", ".join(dict.fromkeys(unknown)) or "any result"
        raise request.missing(
            f"no size is known of the models of {names}",
            "their files are not on this machine; give it: --size 'GENERATOR=7B'",
        )
    if unknown:
        request.notes.append(
            f"not drawn, because the size of the model is not known (--size GENERATOR=7B): "
            f"{', '.join(dict.fromkeys(unknown))}"
        )
    title = f"Gain of gold context over no context by {metric}"
    yield (
        title,
        scatter_chart(
            points,
            title,
            x_title="parameters of the model",
            y_title=f"gain of {metric}",
            titles={"label": "Generator", "name": "Setting"},
            logarithmic=True,
        ),
    )


def model_sizes(request: PlotRequest) -> dict[str, float]:
    """Return generator -> number of parameters, as given or from the model's files."""
    found: dict[str, float] = {}
    for row in request.chosen.rows:
        name = row.factors.get("generator", "")
        if name in found:
            continue
        model = row.factors.get("generator.model", "")
        given = request.sizes.get(name) or request.sizes.get(model)
        size = given or _size_of_file(model)
        if size:
            found[name] = float(size)
    return found


def _size_of_file(model: str) -> int | None:
    """Return the parameters that the files of a model on this machine declare, or None."""
    try:
        if model in MODELS:
            return parameter_count(model_file(model)) if MODELS[model].fetched else None
        return parameter_count(find_model(model)) if model and is_local(model) else None
    except (RagstoneError, OSError):
        return None


def read_sizes(written: tuple[str, ...]) -> Mapping[str, float]:
    """Return generator -> size, from texts such as `chat(model=x)=7B`.

    >>> read_sizes(("chat(model=x)=7B", "small=135M"))
    {'chat(model=x)': 7000000000.0, 'small': 135000000.0}
    """
    return dict(map(_size, written))


def _size(written: str) -> tuple[str, Any]:
    name, _, text = written.rpartition("=")
    number, unit = (text[:-1], text[-1:].upper()) if text[-1:].upper() in _UNITS else (text, "")
    try:
        size = float(number) * _UNITS.get(unit, 1)
    except ValueError:
        size = 0
    if not name or not size > 0 or math.isinf(size):
        raise ConfigError(f"--size {written!r}: expected GENERATOR=SIZE, such as small=135M")
    return name, size
