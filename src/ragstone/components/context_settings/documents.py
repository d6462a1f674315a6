"""Whole documents in place of their best passages: long context."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.components.context_settings.without_gold import needs_gold
from ragstone.core import limits
from ragstone.core.component import Outcome
from ragstone.errors import ConfigError
from ragstone.protocols import ContextSetting, Services
from ragstone.types import Candidates, Context, ContextPassage, Passage, Query

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus


@dataclass(frozen=True)
class WholeDocuments(ContextSetting):
    r"""Shows the whole documents of the best passages, in the order of their best passages.

    A document is all of its passages in order, with an empty line between two. Passages with the
    labels `start` and `end` are joined without their overlap, and without an empty line if
    nothing is missing between them. A passage without a document is shown as it is.

    Args:
        top_k: number of documents; fewer if the ranking has passages of fewer documents.
        of: "retrieved" takes the documents of the system's ranking, "gold" those of the relevant
            passages.
    """

    top_k: int = 1
    of: Literal["retrieved", "gold"] = "retrieved"

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise ConfigError(f"documents needs a top_k of at least 1, found {self.top_k}")

    @property
    def uses(self) -> frozenset[str]:
        """The candidates of `of`, and the labels with the places of passages."""
        return frozenset({self.of, "passage_labels"})

    @property
    def setting(self) -> str:
        """The canonical name, for example `documents(3)` or `documents(3, of=gold)`."""
        return f"documents({self.top_k}{', of=gold' if self.of == 'gold' else ''})"

    @property
    def shows(self) -> int:
        """Minimum length of a ranking with passages of `top_k` documents."""
        return self.top_k if self.of == "retrieved" else 0

    def inapplicable(self, query: Query, relevant_count: int) -> str:
        """Return why there is no context: documents of gold passages need a gold passage."""
        return needs_gold(query, relevant_count) if self.of == "gold" else ""

    def data_notes(self, dataset: Any) -> Iterator[str]:
        """Raise `ConfigError` if no passage has a document; note documents of one passage."""
        sizes: dict[str, int] = {}
        for document_id in _document_ids(dataset.corpus):
            sizes[document_id] = sizes.get(document_id, 0) + 1
        alone = sizes.pop("", 0)
        if not sizes:
            raise ConfigError(
                f"setting {self.setting!r} shows whole documents, and no passage of the data set "
                f"{dataset.name!r} names its document; add the field 'document' to the corpus, or "
                "use retrieved(k)",
                key="settings",
                value=self.setting,
            )
        if max(sizes.values()) == 1:
            yield f"{self.setting}: every document has a single passage, so it is shown alone"
        if alone:
            yield f"{self.setting}: {alone:,} passages name no document and are shown alone"

    def build(
        self, candidates: Sequence[Candidates], services: Services
    ) -> Iterator[Outcome[Context]]:
        """Yield one context per query, in order."""
        chosen = [self._best(given) for given in candidates]
        named = {p.document_id for best in chosen for p in best} - {""}
        documents = _Documents(services.corpus, named) if named else None
        for given, best in zip(candidates, chosen, strict=True):
            shown = (
                documents.of(p, self.of)
                if documents and p.document_id
                else ContextPassage(p.passage_id, p.full_text, self.of)
                for p in best
            )
            yield Outcome(Context(given.query.query_id, self.setting, tuple(shown)))

    def _best(self, candidates: Candidates) -> list[Passage]:
        """Return the best passage of each of the first `top_k` documents."""
        given = candidates.gold if self.of == "gold" else candidates.retrieved
        found: dict[tuple[str, str], Passage] = {}
        for passage in given.passages:
            alone = "" if passage.document_id else passage.passage_id
            found.setdefault((passage.document_id, alone), passage)
            if len(found) == self.top_k:
                break
        return list(found.values())


class _Documents:
    """Some documents of a corpus; two collections may have different documents of one id."""

    def __init__(self, corpus: Corpus, document_ids: Collection[str]) -> None:
        self._corpus = corpus
        held = {p: d for p, d in enumerate(_document_ids(corpus)) if d in document_ids}
        self._members: dict[tuple[str, str], list[int]] = {}
        self._collection: dict[int, str] = {}
        parts: Mapping[str, Sequence[int]] = corpus.collections or {"": list(held)}
        for name, positions in parts.items():
            for position in positions:
                if position in held:
                    self._members.setdefault((name, held[position]), []).append(position)
                    self._collection[position] = name

    def of(self, passage: Passage, origin: Literal["retrieved", "gold"]) -> ContextPassage:
        """Return the document of a passage."""
        collection = self._collection[self._corpus.position(passage.passage_id)]
        places = self._members[collection, passage.document_id]
        text = joined_passages([self._corpus.at(place) for place in places])
        return ContextPassage(passage.document_id, text, origin)


def joined_passages(passages: Sequence[Passage]) -> str:
    r"""Return the text of a document from its passages; a title is above the first of its passages.

    >>> joined_passages([Passage("a", "One.", "T"), Passage("b", "Two.", "T")])
    'T\nOne.\n\nTwo.'
    >>> cut = [Passage("b", "c d", labels={"start": 2, "end": 5}),
    ...        Passage("a", "a c", labels={"start": 0, "end": 3})]
    >>> joined_passages(cut)
    'a c d'
    """
    places = [_place(passage) for passage in passages]
    placed = None not in places
    spans = [place or (0, 0) for place in places]
    order = sorted(range(len(passages)), key=lambda i: spans[i]) if placed else range(len(passages))
    text, title, covered = "", "", 0
    for i in order:
        passage, (start, end) = passages[i], spans[i]
        new = passage.text[max(0, covered - start) :] if placed and text else passage.text
        joins = placed and start <= covered
        covered = max(covered, end)
        if not new:
            continue
        gap = "\n\n" if text and not joins else ""
        if passage.title and passage.title != title:
            gap, title = ("\n\n" if text else "") + f"{passage.title}\n", passage.title
        text += gap + new
    return text


def _place(passage: Passage) -> tuple[int, int] | None:
    """Return the first character and the end of a passage in its document, if known."""
    start, end = passage.labels.get("start"), passage.labels.get("end")
    if type(start) is int and type(end) is int and end - start == len(passage.text):
        return start, end
    return None


def _document_ids(corpus: Corpus) -> Iterator[str]:
    """Yield the document id of each passage; only a batch is in memory as Python objects."""
    ids = corpus.table.select(["document_id"])
    for start in range(0, ids.num_rows, limits.TABLE_BATCH_ROWS):
        batch = ids.slice(start, min(limits.TABLE_BATCH_ROWS, ids.num_rows - start))
        yield from batch.column("document_id").to_pylist()
