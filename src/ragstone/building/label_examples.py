"""Examples by people that a labeller is shown before each query."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.building.label_pairs import context_of
from ragstone.data.readers.rows import FieldError, Row, json_rows, reading
from ragstone.data.taxonomy import SEPARATOR
from ragstone.errors import DatasetError, did_you_mean

if TYPE_CHECKING:
    from ragstone.components.judges.verdict import Item

_LABEL: Final = "label"


@dataclass(frozen=True, slots=True)
class LabelExample:
    """A query with its context and the labels that a person gave it."""

    query: str
    passages: tuple[str, ...]
    labels: tuple[str, ...]
    reason: str = ""
    """The person's reason; it is shown if the model must give one."""

    def is_of(self, item: Item) -> bool:
        """Return whether an item is the example."""
        return (self.query, self.passages) == (item.query.text, item.passages)


@dataclass(frozen=True)
class FewShots:
    """A file of examples, and how many of them are shown."""

    path: Path
    gold: Mapping[str, Item]
    """Query id -> the query of the data set with its gold passages."""
    shots: int
    seed: int = 0

    def of(self, names: Sequence[str], taxonomy: str) -> tuple[LabelExample, ...]:
        """Return the examples for a taxonomy with these labels; see `read_examples`."""
        found = read_examples(self.path, names, self.gold, taxonomy)
        return chosen_examples(found, self.shots, self.seed)


def read_examples(
    path: Path, names: Sequence[str], gold: Mapping[str, Item], taxonomy: str
) -> list[LabelExample]:
    """Return the examples of a file of JSON lines.

    Args:
        path: lines with `query` and `context`, or with the `query_id` of a data set, and the label
            in a field with the taxonomy's name or in `label`: a text, or a list.
        names: the labels of the taxonomy.
        gold: query id -> the query of the data set with its gold passages.
        taxonomy: the name of the taxonomy.

    Raises:
        DatasetError: a field is missing, a label is not in the taxonomy, or there is no example.
    """
    found = []
    for number, row in json_rows(path):
        with reading(path, number):
            labels = _labels(row, taxonomy, names)
            query, passages = _pair(row, gold)
            reason = row.take_text("reason", optional=True)
        found.append(LabelExample(query, passages, labels, reason))
    if not found:
        raise DatasetError(f"{path} has no example; write one JSON line per example")
    return found


def chosen_examples(
    examples: Sequence[LabelExample], shots: int, seed: int
) -> tuple[LabelExample, ...]:
    """Return at most `shots` examples at random, the labels in turn, so that each has some.

    >>> rows = [LabelExample(str(n), (), (label,)) for n, label in enumerate("aaab")]
    >>> sorted(example.labels[0] for example in chosen_examples(rows, 2, 0))
    ['a', 'b']
    """
    order = list(examples)
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    groups: dict[tuple[str, ...], list[LabelExample]] = {}
    for example in order:
        groups.setdefault(example.labels, []).append(example)
    longest = max((len(group) for group in groups.values()), default=0)
    turns = (group[n] for n in range(longest) for group in groups.values() if n < len(group))
    return tuple(example for example, _ in zip(turns, range(shots), strict=False))


def _labels(row: Row, taxonomy: str, names: Sequence[str]) -> tuple[str, ...]:
    written = row.get(taxonomy, row.get(_LABEL))
    if not written:
        raise FieldError(f"no label: expected the field {_LABEL!r} or {taxonomy!r}")
    parts = written if isinstance(written, list) else str(written).split(SEPARATOR)
    labels = tuple(str(part).strip() for part in parts)
    for label in labels:
        if label not in names:
            raise FieldError(f"the taxonomy has no label {label!r}{did_you_mean(label, names)}")
    return labels


def _pair(row: Row, gold: Mapping[str, Item]) -> tuple[str, tuple[str, ...]]:
    if "query" in row:
        return row.take_text("query"), context_of(row) if "context" in row else ()
    query_id = row.take_id("query_id")
    if query_id not in gold:
        near = did_you_mean(query_id, gold)
        raise FieldError(
            f"the data set has no query {query_id!r}{near}; give `query` and `context` instead"
        )
    return gold[query_id].query.text, gold[query_id].passages
