"""Labels by several people and by models: majority, agreement, confusion, composition.

Know Your RAG (2024), section 4: the label of an entry is the majority vote, entries without a
majority are set aside, and Fleiss' kappa compares an annotator with the majority of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragstone.statistics.agreement import fleiss_kappa
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary, summarise

Labels = Mapping[str, str]
"""Item id -> label of one annotator."""


@dataclass(frozen=True, slots=True)
class Majority:
    """The labels that more than half of an item's annotators gave it."""

    labels: dict[str, str]
    set_aside: tuple[str, ...]
    """Items without a majority, in order."""


@dataclass(frozen=True, slots=True)
class AgainstOthers:
    """An annotator, and models in their place, against the majority of the other annotators."""

    annotator: str
    kappa: Coefficient
    """Kappa of the annotator and the majority of the others."""
    models: dict[str, Coefficient]
    """Model -> kappa of the model and the same majority."""

    def shortfall(self, model: str) -> float | None:
        """Return 1 minus the ratio of the model's kappa to the annotator's."""
        own, other = self.kappa.value, self.models[model].value
        return None if not own or other is None else 1 - other / own


@dataclass(frozen=True, slots=True)
class Confusion:
    """The number of items for each pair of a true label (row) and a given label (column)."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    left_out: int
    """Items that only one side labelled."""

    @property
    def accuracy(self) -> float | None:
        """Share of the items with the same label on both sides; None without items."""
        total = sum(map(sum, self.counts))
        named = zip(self.rows, self.counts, strict=True)
        same = sum(counts[self.columns.index(row)] for row, counts in named)
        return same / total if total else None


def majority(annotators: Mapping[str, Labels], *, least: int = 2) -> Majority:
    """Return the label that more than half of an item's annotators gave it.

    An item with fewer than `least` labels has no majority.

    >>> majority({"a": {"1": "x", "2": "x"}, "b": {"1": "x", "2": "y"}})
    Majority(labels={'1': 'x'}, set_aside=('2',))
    """
    items = dict.fromkeys(item for labels in annotators.values() for item in labels)
    found: dict[str, str] = {}
    for item in items:
        given = [labels[item] for labels in annotators.values() if item in labels]
        label, count = Counter(given).most_common(1)[0]
        if len(given) >= least and 2 * count > len(given):
            found[item] = label
    return Majority(found, tuple(item for item in items if item not in found))


def against_others(
    annotators: Mapping[str, Labels], models: Mapping[str, Labels] | None = None, *, seed: int = 0
) -> list[AgainstOthers]:
    """Compare each annotator, and each model, with the majority of the other annotators.

    With two annotators the other one is the majority. Items without a majority are left out for
    annotator and models alike.
    """
    found = []
    for name, labels in annotators.items():
        others = {other: held for other, held in annotators.items() if other != name}
        agreed = majority(others, least=min(2, len(others))).labels
        kappas = {m: kappa_of(held, agreed, seed=seed) for m, held in (models or {}).items()}
        found.append(AgainstOthers(name, kappa_of(labels, agreed, seed=seed), kappas))
    return found


def kappa_of(one: Labels, other: Labels, *, seed: int = 0) -> Coefficient:
    """Return Fleiss' kappa of two raters over the items labelled by both.

    >>> kappa_of({"1": "x", "2": "y", "3": "x"}, {"1": "x", "2": "y"}).value
    1.0
    """
    return fleiss_kappa([[one[i], other[i]] for i in one if i in other], seed=seed)


def confusion(truth: Labels, given: Labels) -> Confusion:
    """Return the confusion matrix over the items labelled on both sides.

    >>> confusion({"1": "x", "2": "x"}, {"1": "x", "2": "y"}).counts
    ((1, 1),)
    """
    both = [(truth[i], given[i]) for i in truth if i in given]
    counts = Counter(both)
    rows = tuple(sorted({row for row, _ in both}))
    columns = tuple(sorted({label for pair in both for label in pair}))
    return Confusion(
        rows,
        columns,
        tuple(tuple(counts[row, column] for column in columns) for row in rows),
        len(truth.keys() ^ given.keys()),
    )


def composition(
    labels: Sequence[str | Sequence[str]], names: Sequence[str] = ()
) -> dict[str, Summary]:
    """Return label -> share of the queries with that label, with an interval.

    `labels` has the label or labels of each query; shares of several labels per query sum to more
    than 1. `names` are labels that come first, even if no query has them.

    >>> composition(["x", "y", "x", "x"])["x"].mean
    0.75
    >>> composition([("x", "y"), ("x",)])["y"].mean
    0.5
    """
    held = [{given} if isinstance(given, str) else set(given) for given in labels]
    order = dict.fromkeys([*names, *sorted(set().union(*held))])
    return {name: summarise([float(name in given) for given in held]) for name in order}


def decisions(sets: Mapping[str, Sequence[str]], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return label -> item id -> "yes" or "no": one decision per item and label.

    >>> decisions({"1": ["x", "y"], "2": ["y"]}, ["x"])
    {'x': {'1': 'yes', '2': 'no'}}
    """
    return {
        name: {item: "yes" if name in held else "no" for item, held in sets.items()}
        for name in names
    }
