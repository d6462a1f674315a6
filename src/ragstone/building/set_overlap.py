"""Queries and passages that two data sets have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain

from ragstone.building.set_properties import Facts
from ragstone.data_quality.duplicates import LEAST, squeezed, text_with_history
from ragstone.data_quality.shingles import character_shingles, near_pairs
from ragstone.statistics.summary import Summary, summarise


@dataclass(frozen=True, slots=True)
class SharedItems:
    """The share of each data set's items that the other has, too; None without items."""

    a: Summary | None
    b: Summary | None


def overlap(a: Facts, b: Facts) -> dict[str, SharedItems]:
    """Return the overlap of two data sets.

    Queries are compared with their history. Similar ones have a Jaccard similarity of 0.8 or more
    in runs of four characters, as in `ragstone data check --against`. Passages are equal if their
    texts are, whatever their ids; relevant passages without a text are compared by id.
    """
    texts = [[text_with_history(query) for query in side.queries] for side in (a, b)]
    both = [side.clusters for side in (a, b)]
    found = {
        "equal queries": _shared(texts, both),
        "similar queries": _similar(texts, both),
        "passages": _shared([_passages(side) for side in (a, b)]),
        "relevant passages": _shared([_relevant(side) for side in (a, b)]),
    }
    return {name: one for name, one in found.items() if one.a or one.b}


def _shared(
    sides: Sequence[Sequence[str]], clusters: Sequence[Sequence[Hashable] | None] = (None, None)
) -> SharedItems:
    return _items(sides, clusters, [set(sides[1]).__contains__, set(sides[0]).__contains__])


def _items(
    sides: Sequence[Sequence[str]],
    clusters: Sequence[Sequence[Hashable] | None],
    shared: Sequence[Callable[[str], bool]],
) -> SharedItems:
    found = [
        summarise([float(is_shared(item)) for item in side], clusters=names) if side else None
        for side, names, is_shared in zip(sides, clusters, shared, strict=True)
    ]
    return SharedItems(*found)


def _similar(
    texts: Sequence[Sequence[str]], clusters: Sequence[Sequence[Hashable] | None]
) -> SharedItems:
    """Return the overlap of texts that are equal or nearly equal."""
    first, second = texts
    near: list[set[str]] = [set(first) & set(second) for _ in texts]
    joined = [*first, *second]
    for pair in near_pairs(character_shingles(joined), LEAST):
        if pair.first < len(first) <= pair.second:
            near[0].add(joined[pair.first])
            near[1].add(joined[pair.second])
    return _items(texts, clusters, [near[0].__contains__, near[1].__contains__])


def _passages(facts: Facts) -> list[str]:
    held: Collection[str] = facts.dataset.corpus.table.column("text").to_pylist()
    return [text for text in map(squeezed, held) if text]


def _relevant(facts: Facts) -> list[str]:
    corpus = facts.dataset.corpus
    held = (sorted(facts.relevant.get(query.query_id, ())) for query in facts.queries)
    ids = dict.fromkeys(chain.from_iterable(held))
    return [(squeezed(corpus[i].text) if i in corpus else "") or i for i in ids]
