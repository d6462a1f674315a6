"""Each passage joined with the passages before and after it in its document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.components.context_settings.documents import joined_passages
from ragstone.components.context_settings.without_gold import needs_gold
from ragstone.core.component import Outcome
from ragstone.data.rechunk.documents import batched_rows, document_id_of, place_of
from ragstone.errors import ConfigError
from ragstone.protocols import ContextSetting, Services
from ragstone.types import Candidates, Context, ContextPassage, Passage, Query

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus


@dataclass(frozen=True)
class Neighbours(ContextSetting):
    """Shows the best passages, each joined with the passages beside it in its document.

    Compared with the same passages alone, it shows whether an answer was lost at the border of two
    passages. Passages that share a neighbour, or are neighbours, become one, at the place of the
    better one and with its id. The order in a document is that of the labels `start` and `end`, or
    of ids of the form `<document>-<start>-<end>`, or else that of the corpus. A passage without a
    document is shown as it is.

    Args:
        top_k: number of passages that are joined with their neighbours.
        each_side: number of neighbours before a passage, and after it.
        of: "retrieved" takes the passages of the system's ranking, "gold" the relevant ones.
    """

    top_k: int = 5
    each_side: int = 1
    of: Literal["retrieved", "gold"] = "retrieved"

    def __post_init__(self) -> None:
        for name in ("top_k", "each_side"):
            if (value := getattr(self, name)) < 1:
                raise ConfigError(
                    f"neighbours needs {name} of at least 1, found {value}", key=name, value=value
                )

    @property
    def uses(self) -> frozenset[str]:
        """The candidates of `of`, and the labels with the places of passages."""
        return frozenset({self.of, "passage_labels"})

    @property
    def setting(self) -> str:
        """The canonical name, for example `neighbours(5)` or `neighbours(5, each_side=2)`."""
        sides = "" if self.each_side == 1 else f", each_side={self.each_side}"
        return f"neighbours({self.top_k}{sides}{', of=gold' if self.of == 'gold' else ''})"

    @property
    def shows(self) -> int:
        """Number of passages of the ranking that are joined."""
        return self.top_k if self.of == "retrieved" else 0

    def inapplicable(self, query: Query, relevant_count: int) -> str:
        """Return why there is no context: neighbours of gold passages need a gold passage."""
        return needs_gold(query, relevant_count) if self.of == "gold" else ""

    def data_notes(self, dataset: Any) -> Iterator[str]:
        """Raise `ConfigError` if no document has two passages; note passages that are alone."""
        alone = no_neighbours(dataset.corpus)
        if alone == len(dataset.corpus):
            raise ConfigError(
                f"setting {self.setting!r} joins passages with their neighbours, and no document "
                f"of the data set {dataset.name!r} has two passages; add the field 'document' to "
                "the corpus, or use retrieved(k)",
                key="settings",
                value=self.setting,
            )
        if alone:
            yield f"{self.setting}: {alone:,} passages have no neighbour and are shown alone"

    def build(
        self, candidates: Sequence[Candidates], services: Services
    ) -> Iterator[Outcome[Context]]:
        """Yield one context per query, in order."""
        chosen = [self._chosen(given) for given in candidates]
        ordered = _Ordered(services.corpus, [p for best in chosen for p in best])
        for given, best in zip(candidates, chosen, strict=True):
            joined = tuple(
                ContextPassage(first.passage_id, joined_passages(group), self.of)
                for first, group in ordered.joined(best, self.each_side)
            )
            yield Outcome(Context(given.query.query_id, self.setting, joined))

    def _chosen(self, candidates: Candidates) -> Sequence[Passage]:
        given = candidates.gold if self.of == "gold" else candidates.retrieved
        return given.passages[: self.top_k]


def no_neighbours(corpus: Corpus) -> int:
    """Return the number of passages that are alone in their document.

    >>> from ragstone.data.corpus import Corpus
    >>> of_one = [Passage("d-0-4", "Five"), Passage("d-5-9", "left"), Passage("alone", "One.")]
    >>> no_neighbours(Corpus.from_passages(of_one))
    1
    """
    sizes: dict[tuple[str, str], int] = {}
    for collection, document_id, _ in _documents_of(corpus):
        key = (collection, document_id)
        sizes[key] = sizes.get(key, 0) + 1
    return sum(size == 1 for size in sizes.values())


def _documents_of(corpus: Corpus) -> Iterator[tuple[str, str, int]]:
    """Yield the collection, the document and the position of each passage."""
    parts: Mapping[str, Sequence[int]] = corpus.collections
    named = {position: name for name, positions in parts.items() for position in positions}
    table = corpus.table.select(["passage_id", "document_id", "text"])
    for position, row in enumerate(batched_rows(table)):
        yield named.get(position, ""), document_id_of(**row), position


class _Ordered:
    """The documents of some passages, each with its passages in order."""

    def __init__(self, corpus: Corpus, passages: Sequence[Passage]) -> None:
        self._corpus = corpus
        wanted = {document_id_of(p.passage_id, p.document_id, p.text) for p in passages}
        members: dict[tuple[str, str], list[int]] = {}
        for collection, document_id, position in _documents_of(corpus) if wanted else ():
            if document_id in wanted:
                members.setdefault((collection, document_id), []).append(position)
        self._members: dict[int, Passage] = {}
        self._places: dict[int, tuple[list[int], int]] = {}
        """Position in the corpus -> the positions of its document in order, and its place there."""
        for positions in members.values():
            ordered = self._in_order(positions)
            self._places |= {p: (ordered, place) for place, p in enumerate(ordered)}

    def _in_order(self, positions: list[int]) -> list[int]:
        """Return the passages of a document by their offsets; as they are if one has none."""
        found = {position: self._corpus.at(position) for position in positions}
        self._members |= found
        places = {
            position: place_of(p.passage_id, p.document_id, p.text, p.labels)
            for position, p in found.items()
        }
        spans = {position: place for position, place in places.items() if place}
        if len(spans) < len(positions):
            return positions
        for position, span in spans.items():
            labels = {"start": span.start, "end": span.end}
            self._members[position] = replace(found[position], labels=labels)
        return sorted(positions, key=lambda position: (spans[position].start, spans[position].end))

    def joined(
        self, best: Sequence[Passage], each_side: int
    ) -> Iterator[tuple[Passage, list[Passage]]]:
        """Yield the first passage of each group, and the group in the order of its document."""
        groups: list[tuple[Passage, set[int]]] = []
        for passage in best:
            ordered, place = self._places[self._corpus.position(passage.passage_id)]
            near = set(ordered[max(0, place - each_side) : place + each_side + 1])
            touched = [group for group in groups if group[1] & near]
            if not touched:
                groups.append((passage, near))
                continue
            touched[0][1].update(near, *(members for _, members in touched[1:]))
            groups = [group for group in groups if all(group is not t for t in touched[1:])]
        for first, members in groups:
            of_document = self._places[next(iter(members))][0]
            yield first, [self._members[p] for p in of_document if p in members]
