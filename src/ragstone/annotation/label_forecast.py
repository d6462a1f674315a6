"""How many more labels the wanted interval of each question needs, also with a model's labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ragstone.annotation.done import places
from ragstone.annotation.label_columns import LabelColumns, QuestionColumns, has, suggestion
from ragstone.statistics.labels_needed import LabelsNeeded, labels_needed

if TYPE_CHECKING:
    from ragstone.annotation.schemes import Scheme

Place: TypeAlias = tuple[str, str]
"""Item id and part."""


@dataclass(frozen=True, slots=True)
class QuestionForecast:
    """The labels that the interval of a question's mean, or of a value's share, still needs."""

    question: str
    value: str
    """The value whose share has the widest interval; "" for the mean of a scale, from 0 to 1."""
    needed: LabelsNeeded


def forecasts(columns: LabelColumns, scheme: Scheme, wanted: float) -> tuple[QuestionForecast, ...]:
    """Return the labels that each question still needs for the half-width `wanted`."""
    planned: dict[str, list[Place]] = defaultdict(list)
    for item_id, item in columns.items.items():
        for name, part in places(scheme, item, {}):
            planned[name].append((item_id, part))
    return tuple(
        _forecast(columns, one, planned[one.question.name], wanted)
        for one in columns.questions.values()
        if one.question.options and (one.known_values or one.question.kind == "choices")
    )


def _forecast(
    columns: LabelColumns, question: QuestionColumns, planned: Sequence[Place], wanted: float
) -> QuestionForecast:
    cells = list(dict.fromkeys([*planned, *question.places]))
    clusters = [columns.items[item_id].query.query_id for item_id, _ in cells]
    suggested = [
        suggestion(question.question, columns.items[item_id], part) for item_id, part in cells
    ]
    given = _given(question)

    def needed(numbers: Mapping[Any, float]) -> LabelsNeeded:
        human = np.array([_mean(given.get(place, ()), numbers) for place in cells])
        model = np.array([numbers.get(one, np.nan) for one in suggested])
        return labels_needed(human, wanted, model=model, clusters=clusters)

    every = dict.fromkeys([*question.known_values, *(s for s in suggested if s is not None)])
    if question.question.numeric and question.question.kind == "choice":
        points = [float(one.value) for one in question.question.options]
        low, whole = min(points), (max(points) - min(points)) or 1.0
        shares = {v: (v - low) / whole for v in every if not isinstance(v, str)}
        return QuestionForecast(question.question.name, "", needed(shares))
    if question.question.kind == "choices":
        names = [str(one.value) for one in question.question.options]
        of = {name: needed({one: float(has(one, name)) for one in every}) for name in names}
    else:
        of = {str(name): needed({one: float(one == name) for one in every}) for name in every}
    widest = max(of, key=lambda one: alone.half_width if (alone := of[one].alone) else 0.0)
    return QuestionForecast(question.question.name, widest, of[widest])


def _given(question: QuestionColumns) -> dict[Place, list[Any]]:
    """Return item id and part -> the values that people gave."""
    found: list[list[Any]] = [[] for _ in question.places]
    for cell, _, value, _ in question.triples():
        found[cell].append(value)
    return dict(zip(question.places, found, strict=True))


def _mean(values: Sequence[Any], numbers: Mapping[Any, float]) -> float:
    """Return the mean of the values with a number; NaN if there is none."""
    known = [numbers[value] for value in values if value in numbers]
    return sum(known) / len(known) if known else float("nan")
