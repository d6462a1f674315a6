"""Two data sets side by side: properties with intervals, distances of their users, and overlap.

found = compare_sets(load_dataset("people"), load_dataset("simulated"), people="first")
found.properties["conversations"]["turns"].difference
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from ragstone.building.set_overlap import SharedItems, overlap
from ragstone.building.set_properties import (
    ACT,
    CONVERSATIONS,
    LENGTHS,
    Facts,
    compared_labels,
    languages,
    properties,
    shares,
)
from ragstone.building.set_vectors import vector_spread
from ragstone.building.write import SUMMARY
from ragstone.data.dataset import Dataset
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.distribution_distance import (
    Distance,
    Measure,
    distance,
    earth_mover,
    jensen_shannon,
    kolmogorov_smirnov,
)
from ragstone.statistics.diversity import chunk_size, distinct_shares
from ragstone.statistics.summary import Summary, cluster_numbers, few_clusters, summarise
from ragstone.statistics.unpaired import UnpairedDifference, unpaired_difference
from ragstone.text.dialogue_acts import ACTS
from ragstone.text.words import words

DIVERSITY: Final = "diversity"
People: TypeAlias = Literal["", "first", "second", "both", "none"]
"""The data sets whose queries people wrote; "" if it is not known."""
MEANS: Final = (CONVERSATIONS, LENGTHS, DIVERSITY)
"""Groups of properties that are means; the others are shares of queries."""
_ORDINALS: Final = ("first", "second")
_GROUPS: Final = 2_000
"""Maximum number of groups of both sides: of more conversations, equal numbers share one."""
_FREQUENT_WORDS: Final = 100
"""The most frequent words, of both sets together, count one by one; the others count as one. Rare
words show the topic, and their distance is mostly chance."""
_WORDS_BOUND: Final = 2_000
"""Words of a query; longer ones count as this long."""
_FRIENDLY: Final = (
    "Simulated users are known to be too friendly: they cooperate more than people, vary less in "
    "style and do not get annoyed (arXiv 2603.11245), so systems can look better with them."
)


@dataclass(frozen=True, slots=True)
class ComparedProperty:
    """One property of both data sets; None for a set that does not have it."""

    a: Summary | None
    b: Summary | None
    difference: float | None = None
    """The second mean minus the first."""
    interval: tuple[float, float] | None = None

    @classmethod
    def of(cls, a: Summary | None, b: Summary | None) -> ComparedProperty:
        """Return two means with their difference."""
        gap = unpaired_difference(a, b) if a and b else UnpairedDifference(None, None)
        return cls(a, b, gap.difference, gap.interval)

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        return UnpairedDifference(self.difference, self.interval).excludes_zero


@dataclass(frozen=True, slots=True)
class SetFacts:
    """The numbers of rows of a data set."""

    name: str
    queries: int
    conversations: int
    passages: int
    judgements: int
    people: bool | None
    """Whether people wrote the queries; None if it is not known."""


@dataclass(frozen=True)
class SetComparison:
    """Two data sets side by side."""

    a: SetFacts
    b: SetFacts
    properties: Mapping[str, Mapping[str, ComparedProperty]]
    """Group -> property -> both means with their difference."""
    distances: Mapping[str, Distance]
    """Subject -> distance of the two distributions."""
    overlap: Mapping[str, SharedItems]
    notes: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        return asdict(self)


def compare_sets(
    a: Dataset, b: Dataset, *, people: People = "", embedder: str = "", seed: int = 0
) -> SetComparison:
    """Return two data sets side by side.

    Args:
        a: the first data set.
        b: the second.
        people: the data sets whose queries people wrote; if it is not given, a set that
            `ragstone data generate` wrote is known not to be theirs.
        embedder: spec of the embedder for the spread of the queries; "" leaves it out.
        seed: seed of the resamples.

    >>> from ragstone.data.load import load_dataset
    >>> found = compare_sets(load_dataset("sample"), load_dataset("sample"))
    >>> found.properties["conversations"]["turns"].difference
    0.0
    >>> found.distances["frequent words"].value
    0.0
    """
    sides = Facts.of(a), Facts.of(b)
    found = [properties(side) for side in sides]
    for label, values in compared_labels(sides).items():
        for side, own in zip(sides, found, strict=True):
            own[f"label {label}"] = shares(side, side.values(label), values)
    spoken = [languages(side) for side in sides]
    names = sorted(set(chain.from_iterable(chain(*spoken))))
    for side, own, rows in zip(sides, found, spoken, strict=True):
        own["language of the text"] = shares(side, rows, names)
    for own, more in zip(found, _diversity(sides, embedder, seed), strict=True):
        own[DIVERSITY] = more
    common = overlap(*sides)
    marks = [_mark(people, *one) for one in zip(_ORDINALS, (a, b), strict=True)]
    return SetComparison(
        a=_facts(sides[0], marks[0]),
        b=_facts(sides[1], marks[1]),
        properties=_paired(found),
        distances=_distances(sides, seed),
        overlap=common,
        notes=[*_notes(sides, marks, spoken), *_dependence(common)],
    )


def _mark(people: People, ordinal: str, dataset: Dataset) -> bool | None:
    """Return whether people wrote the queries; None if it is not known."""
    if people:
        return people in ("both", ordinal)
    path = dataset.source.path
    return False if path is not None and (path / SUMMARY).is_file() else None


def _facts(side: Facts, people: bool | None) -> SetFacts:
    data = side.dataset
    sizes = len(side.queries), len(data.conversations), len(data.corpus), data.qrel_table.num_rows
    return SetFacts(data.name, *sizes, people)


def _paired(
    found: Sequence[Mapping[str, Mapping[str, Summary]]],
) -> dict[str, dict[str, ComparedProperty]]:
    """Return the properties that a data set has, in one order."""
    first, second = found
    order = dict.fromkeys([CONVERSATIONS, LENGTHS, ACT, *first, *second])
    paired = {
        group: {
            name: ComparedProperty.of(one.get(name), other.get(name))
            for name in dict.fromkeys([*one, *other])
        }
        for group in order
        for one, other in [(first.get(group, {}), second.get(group, {}))]
    }
    return {group: means for group, means in paired.items() if means}


def _diversity(sides: Sequence[Facts], embedder: str, seed: int) -> list[dict[str, Summary]]:
    """Return distinct-1 and distinct-2 of chunks of equal size, and the spread of vectors."""
    texts = [_words_by_cluster(side) for side in sides]
    size = chunk_size([sum(map(len, chain.from_iterable(side))) for side in texts])
    found: list[dict[str, Summary]] = [{} for _ in sides]
    for n in (1, 2) if size else ():
        for groups, own in zip(texts, found, strict=True):
            chunks = distinct_shares(groups, n, size, seed=seed)
            own[f"distinct-{n} of {size:,}"] = summarise(chunks, bounds=None)
    if embedder:
        for side, own in zip(sides, found, strict=True):
            own["spread of vectors"] = vector_spread(side, embedder, seed)
    return found


def _words_by_cluster(side: Facts) -> list[list[list[str]]]:
    grouped: dict[Hashable, list[list[str]]] = {}
    for query, cluster in zip(side.queries, side.clusters, strict=True):
        grouped.setdefault(cluster, []).append(words(query.text))
    return list(grouped.values())


def _distances(sides: Sequence[Facts], seed: int) -> dict[str, Distance]:
    counted = distance_counts(sides)
    found = {
        name: distance(measure, *counts, seed=seed) for name, (measure, counts) in counted.items()
    }
    return {name: one for name, one in found.items() if one is not None}


def distance_counts(sides: Sequence[Facts]) -> dict[str, tuple[Measure, Sequence[Floats]]]:
    """Return subject -> its measure, and the counts of each side by group and category.

    The subjects are the dialogue acts of the users, their words, and the lengths of their turns.
    """
    lengths = _counted(sides, [_length_rows(side) for side in sides])
    return {
        ACT: (jensen_shannon, _counted(sides, [_act_rows(side) for side in sides])),
        "frequent words": (jensen_shannon, _counted(sides, _word_rows(sides))),
        "turn length": (earth_mover, lengths),
        "turn length, largest gap": (kolmogorov_smirnov, lengths),
    }


def _act_rows(side: Facts) -> list[list[int]]:
    return [[ACTS.index(act)] for act in side.acts()]


def _length_rows(side: Facts) -> list[list[int]]:
    return [[min(len(query.text.split()), _WORDS_BOUND)] for query in side.queries]


def _word_rows(sides: Sequence[Facts]) -> list[list[list[int]]]:
    texts = [[words(query.text) for query in side.queries] for side in sides]
    counts = Counter(word for side in texts for text in side for word in text)
    known = {word: place for place, (word, _) in enumerate(counts.most_common(_FREQUENT_WORDS))}
    return [[[known.get(word, len(known)) for word in text] for text in side] for side in texts]


def _counted(sides: Sequence[Facts], rows: Sequence[Sequence[Sequence[int]]]) -> list[Floats]:
    """Return counts of shape (groups, categories): whole clusters, several per group if many."""
    width = 1 + max(chain.from_iterable(chain.from_iterable(rows)), default=0)
    found, members = [], [cluster_numbers(side.clusters) for side in sides]
    sizes = [int(one.max(initial=-1)) + 1 for one in members]
    # Groups of unequal sizes could not be dealt out for each other.
    shared = max(1, math.ceil(sum(sizes) / _GROUPS))
    for numbers, size, own in zip(members, sizes, rows, strict=True):
        groups = math.ceil(size / shared)
        counts = np.zeros((groups, width))
        places = np.repeat(numbers % max(1, groups), [len(row) for row in own])
        np.add.at(counts, (places, np.array(list(chain.from_iterable(own)), dtype=np.int64)), 1.0)
        found.append(counts)
    return found


def _notes(
    sides: Sequence[Facts],
    people: Sequence[bool | None],
    spoken: Sequence[Sequence[tuple[str, ...]]],
) -> Iterator[str]:
    if not all(people):
        yield f"{_marked(people)} {_FRIENDLY}"
    main = [Counter(chain.from_iterable(rows)).most_common(1) for rows in spoken]
    codes = [found[0][0] if found else "" for found in main]
    if all(codes) and len(set(codes)) > 1:
        yield (
            f"The sets are in different languages ({codes[0]}, {codes[1]}): words, lengths and "
            "dialogue acts differ between languages, whoever wrote them."
        )
    for ordinal, side in zip(_ORDINALS, sides, strict=True):
        if not side.queries:
            yield f"The {ordinal} set has no query."
        elif warning := few_clusters(side.clusters):
            yield f"The {ordinal} set: {warning}"
        elif not side.dataset.conversations:
            yield (
                f"The {ordinal} set has no conversations (queries with the labels `conversation` "
                "and `turn`)."
            )


def _dependence(common: Mapping[str, SharedItems]) -> Iterator[str]:
    """Yield a note if the data sets have queries in common."""
    found = common.get("equal queries")
    if found and found.a and found.a.mean == 1.0 and found.b and found.b.mean == 1.0:
        yield "Both sets have the same queries."
    elif found and found.a and found.a.mean:
        yield (
            "The sets have queries in common, so they are not independent: intervals of "
            "differences are too wide."
        )


def _marked(people: Sequence[bool | None]) -> str:
    """Return the sentence on the sets that people did not make, as far as it is known."""
    if all(mark is False for mark in people):
        return "Neither set was made by people."
    if False in people:
        return f"The {_ORDINALS[people.index(False)]} set was not made by people."
    if any(people):
        return (
            f"The {_ORDINALS[people.index(None)]} set is not marked as made by people (--people)."
        )
    return "Neither set is marked as made by people (--people)."
