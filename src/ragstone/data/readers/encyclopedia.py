"""The pages of an encyclopedia as passages, for a data set that has only questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from ragstone.core.registry import create
from ragstone.data.corpus import Corpus
from ragstone.data.cut_passages import CutPassages
from ragstone.data.dataset import Dataset
from ragstone.data.encyclopedias.pages import read_pages
from ragstone.data.readers.base import Reader
from ragstone.data.table_builder import qrels, queries
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Document


@dataclass(frozen=True)
class EncyclopediaReader(Reader):
    """Reads KILT's knowledge source, wikimedia/wikipedia's Parquet or WikiExtractor's JSON.

    The id of a page is the document id of its passages.

    Args:
        path: a file, or a folder with the files of one language.
        chunker: cuts the pages into passages.
        variant: "corrected" keeps passages within a section, with the headings above it as the
            label `heading`. "bergen" cuts the whole page as BERGEN does: with the title in front,
            over sections, and without the items of lists.
        language: code of the language. It becomes a label, and the beginning of each page's id,
            because editions in different languages use the same ids.
        limit: maximum number of pages, read from the beginning; 0 reads all.
    """

    path: str | Path
    chunker: Any = "words(100)"
    variant: Literal["corrected", "bergen"] = "corrected"
    language: str = ""
    limit: int = 0

    def __post_init__(self) -> None:
        """Make the chunker, and check the limit."""
        made = create("chunkers", self.chunker, where="encyclopedia, chunker")
        object.__setattr__(self, "chunker", made)
        if self.limit < 0:
            raise ConfigError(f"limit must be 0 (all pages) or more, found {self.limit}")

    def documents(self) -> Iterator[Sequence[Document]]:
        """Yield the parts of each page that no passage crosses, one page at a time."""
        pages = read_pages(Path(self.path))
        for page in islice(pages, self.limit) if self.limit else pages:
            parts = page.whole() if self.variant == "bergen" else page.sections()
            yield [self._of_language(part) for part in parts]

    def _of_language(self, part: Document) -> Document:
        if not self.language:
            return part
        labels = {**part.labels, "language": self.language}
        return replace(part, document_id=f"{self.language}:{part.document_id}", labels=labels)

    @property
    def title(self) -> str:
        """Name of the data set."""
        name = Path(self.path).resolve().name
        return f"{name}, first {self.limit:,} pages" if self.limit else name

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with file and line if it is malformed."""
        passages = CutPassages(self.chunker)
        for _, cut in passages.cut((None, parts) for parts in self.documents()):
            for passage, _, _ in cut:
                passages.add(passage)
        if not passages.count:
            raise DatasetError(f"{self.path} contains no page with text")
        return Dataset(self.title, queries().finish(), Corpus(passages.finish()), qrels().finish())
