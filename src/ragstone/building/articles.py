"""The articles of a corpus by their titles, each with its chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ragstone.core import limits
from ragstone.core.progress import progress
from ragstone.data.cut_passages import cut
from ragstone.data.rechunk.documents import Documents
from ragstone.errors import DatasetError
from ragstone.types import Document, Passage, Search

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus

NO_TITLE: Final = "the query names no article"
NO_ARTICLE: Final = "no article has the title"
SEVERAL: Final = "several articles have the title"


def title_key(title: str) -> str:
    """Return a title without differences of case, underscores and white space.

    >>> title_key("Nobel_Prize in  physics")
    'nobel prize in physics'
    """
    return " ".join(title.replace("_", " ").casefold().split())


@dataclass(frozen=True)
class Articles:
    """Documents with titles, which are cut into chunks when they are needed.

    Args:
        chunker: cuts a document; None if the passages of the corpus are the chunks.
    """

    chunker: Any
    parts: dict[str, list[Document | Passage]] = field(default_factory=dict)
    """Article id -> its text: one document, or the passages with its title."""
    titles: dict[str, list[str]] = field(default_factory=dict)
    """Title key -> ids of the articles with this title."""
    _chunks: dict[str, list[Passage]] = field(default_factory=dict)

    @classmethod
    def read(cls, corpus: Corpus, chunker: Any) -> Articles:
        """Return the articles of a corpus; raise `DatasetError` if it has no title.

        With a chunker, each document of the corpus is an article. Without one, the passages of one
        title are an article.
        """
        articles = cls(chunker)
        with progress("Reading articles", len(corpus)) as bar:
            for article_id, title, part in _parts(corpus, whole=chunker is not None):
                if article_id not in articles.parts:
                    articles.titles.setdefault(title_key(title), []).append(article_id)
                articles.parts.setdefault(article_id, []).append(part)
                bar.advance(1)
        articles.titles.pop("", None)
        if not articles.titles:
            raise DatasetError(
                f"none of the {len(corpus):,} passages of the corpus has a title; articles are "
                "found by their titles: give each document a field 'title'"
            )
        return articles

    def find(self, title: str) -> tuple[str, str]:
        """Return the id of the article with a title, or "" and the reason why there is none."""
        if not title.strip():
            return "", NO_TITLE
        found = self.titles.get(title_key(title), ())
        if len(found) == 1:
            return found[0], ""
        shown = title[: limits.EXAMPLE_ANSWER_CHARACTERS]
        return "", f"{SEVERAL if found else NO_ARTICLE}: {shown!r}"

    def chunks(self, article_id: str) -> list[Passage]:
        """Return the chunks of an article, in order; none if its text is blank."""
        if article_id not in self._chunks:
            self._chunks[article_id] = list(self._cut(self.parts[article_id]))
        return self._chunks[article_id]

    def nearest_by_title(self, titles: Iterable[str], count: int) -> list[list[Passage]]:
        """Return for each title the first `count` chunks of the articles with the best titles.

        Titles are ranked by BM25; the chunks of one article are in the order of its text. That is
        the ranking of all chunks by their titles.
        """
        found = []
        for article_ids in _bm25(self._titles, map(title_key, titles), count):
            chunks: list[Passage] = []
            for article_id in article_ids:
                chunks += self.chunks(article_id)[: count - len(chunks)]
                if len(chunks) == count:
                    break
            found.append(chunks)
        return found

    def nearest_by_text(self, texts: Iterable[str], count: int) -> list[list[Passage]]:
        """Return for each text the `count` best of all chunks by BM25."""
        rankings = _bm25(self._all_chunks, texts, count)
        return [[self._all_chunks[chunk_id] for chunk_id in ids] for ids in rankings]

    @cached_property
    def _titles(self) -> Corpus:
        from ragstone.data.corpus import Corpus

        named = ((i, key) for key, ids in self.titles.items() for i in ids)
        return Corpus.from_passages([Passage(article_id, key) for article_id, key in named])

    @cached_property
    def _all_chunks(self) -> Corpus:
        from ragstone.data.corpus import Corpus

        return Corpus.from_passages([chunk for i in self.parts for chunk in self.chunks(i)])

    def _cut(self, parts: Iterable[Document | Passage]) -> Iterator[Passage]:
        for part in parts:
            if isinstance(part, Passage):
                yield from [part] if part.text.strip() else []
            else:
                yield from (passage for passage, _, _ in cut([part], self.chunker))


def _bm25(corpus: Corpus, texts: Iterable[str], count: int) -> list[list[str]]:
    """Return for each text the ids of the best passages of a corpus."""
    from ragstone.components.retrievers.bm25 import BM25
    from ragstone.protocols import Services

    searches = [Search(str(place), text) for place, text in enumerate(texts)]
    outcomes = BM25(top_k=count).retrieve(searches, Services(corpus=corpus))
    return [list(outcome.value.passage_ids) for outcome in outcomes]


def _parts(corpus: Corpus, *, whole: bool) -> Iterator[tuple[str, str, Document | Passage]]:
    """Yield article id, title and text of documents, or of passages that are chunks."""
    if not whole:
        yield from ((title_key(p.title), p.title, p) for p in corpus)
        return
    for joined in Documents(corpus):
        yield from ((joined.document_id, one.title, one) for one in joined.stretches)
