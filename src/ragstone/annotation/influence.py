"""People against a model's suggestions: agreement with it, and the effect of showing it.

People's labels count as three groups: the suggestion was shown *before* the label, *after* it, or
*never*. If people agree with the model more where they saw its label first, the suggestion
influenced them. A label that was changed after the suggestion was shown counts as it was before:
who takes the model's label then agrees with it by choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.annotation.label_columns import (
    SHOWN,
    LabelColumns,
    QuestionColumns,
    decided,
    suggestion,
)
from ragstone.statistics.agreement import cohen_kappa, percentage_agreement
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary, summarise
from ragstone.statistics.unpaired import UnpairedDifference, unpaired_difference
from ragstone.web import limits

if TYPE_CHECKING:
    from ragstone.annotation.database import Database

NEVER: Final = "never"


@dataclass(frozen=True, slots=True)
class PersonWithModel:
    """The labels of one person and the model's of the same items."""

    person: str
    equal: Summary
    """Share of the person's labels that are the model's."""
    kappa: Coefficient
    """Cohen's kappa of person and model; with quadratic weights if the values are numbers."""


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """The labels that were given with a suggestion shown before, after or never."""

    shown: str
    with_model: Summary
    """Share of the labels that are the model's."""
    with_others: Summary
    """Share of pairs of people of this group with equal labels."""
    model_difference: UnpairedDifference | None
    """`with_model` minus that of the first group; None for the first group."""
    others_difference: UnpairedDifference | None


@dataclass(frozen=True, slots=True)
class ModelLabels:
    """People's labels of a question against the model's."""

    question: str
    suggested: int
    """Items, or parts of items, with a label of the model."""
    people: tuple[PersonWithModel, ...]
    """The people with the most common items."""
    groups: tuple[ShownGroup, ...]
    """Never, after and before, as far as there are any; one group if nothing was shown."""
    after: int
    """Labels after which the suggestion was shown."""
    changed: int
    """Those that the person changed then."""
    to_model: int
    """Those that the person changed to the model's label."""

    @property
    def was_shown(self) -> bool:
        """Whether a suggestion was shown with any label."""
        return any(one.shown != NEVER for one in self.groups)

    @property
    def is_influenced(self) -> bool:
        """Whether a group differs from the first one in an interval without 0."""
        found = (x for of in self.groups for x in (of.model_difference, of.others_difference))
        return any(one is not None and one.excludes_zero for one in found)


def model_labels(columns: LabelColumns, database: Database) -> tuple[ModelLabels, ...]:
    """Return people's labels against the model's, per question with suggestions."""
    suggested = {
        name: of for name, one in columns.questions.items() if any(of := _suggested(columns, one))
    }
    first = _first_values(columns, database, suggested)
    return tuple(
        _model_labels(columns, columns.questions[name], of, first) for name, of in suggested.items()
    )


def _suggested(columns: LabelColumns, question: QuestionColumns) -> list[Any]:
    """Return the model's label of each labelled cell, None if there is none."""
    return [
        suggestion(question.question, columns.items[item_id], part)
        for item_id, part in question.places
    ]


def _model_labels(
    columns: LabelColumns,
    question: QuestionColumns,
    suggested: Sequence[Any],
    first: Mapping[tuple[str, str, str, str], Any],
) -> ModelLabels:
    places, names = list(question.places), columns.names
    after = changed = to_model = 0
    for cell, person, value, _ in question.triples():
        item_id, part = places[cell]
        before = first.get((item_id, names[person], question.question.name, part))
        if before is not None and suggested[cell] is not None:
            after += 1
            changed += before != value
            to_model += before != value == suggested[cell]
    return ModelLabels(
        question.question.name,
        sum(one is not None for one in suggested),
        tuple(_people(columns, question, suggested)),
        tuple(_groups(columns, question, suggested, first)),
        after,
        changed,
        to_model,
    )


def _people(
    columns: LabelColumns, question: QuestionColumns, suggested: Sequence[Any]
) -> Iterable[PersonWithModel]:
    """Yield each person against the model, by name."""
    given: dict[int, list[tuple[int, Any]]] = {}
    for cell, person, value, _ in question.triples():
        if suggested[cell] is not None:
            given.setdefault(person, []).append((cell, value))
    clusters = columns.clusters(question)
    is_text = any(isinstance(one, str) for one in question.known_values)
    weights: Literal["none", "quadratic"] = "none" if is_text else "quadratic"
    most = sorted(given, key=lambda one: -len(given[one]))[: limits.VIEW_ROWS]
    for person in sorted(most, key=columns.names.__getitem__):
        cells, own = zip(*given[person], strict=True)
        model, named = [suggested[cell] for cell in cells], [clusters[cell] for cell in cells]
        equal = summarise([float(a == b) for a, b in zip(own, model, strict=True)], clusters=named)
        kappa = cohen_kappa(own, model, weights=weights, clusters=named)
        yield PersonWithModel(columns.names[person], equal, kappa)


def _groups(
    columns: LabelColumns,
    question: QuestionColumns,
    suggested: Sequence[Any],
    first_values: Mapping[tuple[str, str, str, str], Any],
) -> Iterable[ShownGroup]:
    """Yield labels grouped by when the suggestion was shown; differences are from the first one."""
    places = list(question.places)
    clusters = columns.clusters(question)
    equal: dict[str, list[tuple[Any, float]]] = {}
    rows: dict[str, dict[int, list[Any]]] = {}
    for cell, person, given, seen in question.triples():
        if suggested[cell] is not None:
            item_id, part = places[cell]
            key = (item_id, columns.names[person], question.question.name, part)
            value = first_values.get(key, given)
            shown = "after" if key in first_values else SHOWN[seen] or NEVER
            equal.setdefault(shown, []).append((clusters[cell], float(value == suggested[cell])))
            rows.setdefault(shown, {}).setdefault(cell, []).append(value)
    first: tuple[Summary, Summary] | None = None
    for shown in (NEVER, "after", "before"):
        if shown not in equal:
            continue
        names, values = zip(*equal[shown], strict=True)
        model = summarise(values, clusters=names)
        cells = rows[shown]
        others = percentage_agreement(
            list(cells.values()), clusters=[clusters[cell] for cell in cells]
        )
        if first is None:
            yield ShownGroup(shown, model, others, None, None)
            first = model, others
        else:
            differences = (
                unpaired_difference(first[0], model),
                unpaired_difference(first[1], others),
            )
            yield ShownGroup(shown, model, others, *differences)


def _first_values(
    columns: LabelColumns, database: Database, suggested: Mapping[str, object]
) -> dict[tuple[str, str, str, str], Any]:
    """Return (item, person, question, part) -> the first value, of labels shown one after."""
    # Labels that were changed after the suggestion was shown have "before".
    codes = {SHOWN.index("after"), SHOWN.index("before")}
    if not any(codes & {*columns.questions[name].shown} for name in suggested):
        return {}
    found: dict[tuple[str, str, str, str], Any] = {}
    seen_after: set[tuple[str, str, str, str]] = set()
    for kept in database.events(kinds=("label",), counted=True):
        event = kept.event
        key = (event.item_id, kept.person, event.field, event.part)
        if event.field not in suggested or event.item_id not in columns.items:
            continue
        if event.value is not None:
            value = decided(columns.questions[event.field].question, event.value)
            found.setdefault(key, value)
            if event.shown == "after":
                seen_after.add(key)
    return {key: value for key, value in found.items() if key in seen_after}
