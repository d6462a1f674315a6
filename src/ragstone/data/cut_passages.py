"""The passages that a chunker cuts, checked and collected in a table.

with cut_by(executor_of("processes(4)")):  # documents are cut by its workers
    dataset = load_dataset(...)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from ragstone.core import limits
from ragstone.core.component import run_component
from ragstone.core.executors.base import IN_PROCESS, Executor
from ragstone.core.executors.portable import Portable
from ragstone.core.schemas import labels_to_json
from ragstone.data.table_builder import passages
from ragstone.errors import DatasetError
from ragstone.types import Document, Passage

if TYPE_CHECKING:
    from arro3.core import Table


Key = TypeVar("Key")
Located: TypeAlias = tuple[Passage, int, int]
"""A passage with its first character and its end in its document."""
_executor: Final[ContextVar[Executor]] = ContextVar("executor", default=IN_PROCESS)


@contextmanager
def cut_by(executor: Executor) -> Iterator[None]:
    """Cut the documents that are read in the block on an executor, and close it."""
    token = _executor.set(executor)
    try:
        yield
    finally:
        _executor.reset(token)
        executor.close()


class CutPassages:
    """Collects passages that know their places in their documents.

    Args:
        chunker: the chunker, for errors.
    """

    def __init__(self, chunker: object) -> None:
        self._chunker, self._builder = chunker, passages()
        self._seen = set[int]()
        self.count = 0
        self.longest = 0
        """Length of the longest passage in characters."""

    def cut(
        self, documents: Iterable[tuple[Key, Sequence[Document]]]
    ) -> Iterator[tuple[Key, list[Located]]]:
        """Yield the passages of each document; see the function `cut_each`."""
        return cut_each(documents, self._chunker)

    def add(self, passage: Passage) -> None:
        """Add a passage; raise `DatasetError` if its id was added before."""
        self.count += 1
        self._seen.add(hash(passage.passage_id))
        if len(self._seen) < self.count:
            raise repeated(passage.passage_id, self._chunker)
        labels = labels_to_json(passage.labels)
        row = (passage.passage_id, passage.text, passage.title, passage.document_id, labels)
        self._builder.add(row)
        self.longest = max(self.longest, len(passage.text))

    def finish(self) -> Table:
        """Return the table of all passages."""
        return self._builder.finish()


@dataclass(frozen=True)
class CutJob:
    """Cuts a block of documents, in a worker or here."""

    chunker: Portable

    def __call__(self, block: Sequence[Sequence[Document]]) -> list[list[Located]]:
        """Return the passages of each document."""
        chunker = self.chunker.component()
        return [list(cut(parts, chunker)) for parts in block]


def cut_each(
    documents: Iterable[tuple[Key, Sequence[Document]]], chunker: Any
) -> Iterator[tuple[Key, list[Located]]]:
    """Yield the key and the passages of each document in order; see the function `cut`.

    Inside of `cut_by`, the workers cut the documents if there is more than one block of them. Your
    own chunker runs in this process.
    """
    executor = _executor.get()
    part = None if executor is IN_PROCESS else Portable.of(chunker)
    if part is None:
        yield from ((key, list(cut(parts, chunker))) for key, parts in documents)
        return
    keys: deque[Key] = deque()
    blocks, job = _blocks(documents, keys), CutJob(part)
    begun = list(islice(blocks, 2))
    done = executor.map(job, chain(begun, blocks)) if len(begun) > 1 else map(job, begun)
    for passages_of_one in chain.from_iterable(done):
        yield keys.popleft(), passages_of_one


def _blocks(
    documents: Iterable[tuple[Key, Sequence[Document]]], keys: deque[Key]
) -> Iterator[list[Sequence[Document]]]:
    """Yield documents, `CUT_BLOCK_CHARACTERS` or a longer one at a time, and add their keys."""
    block: list[Sequence[Document]] = []
    length = 0
    for key, parts in documents:
        keys.append(key)
        block.append(tuple(parts))
        length += sum(len(part.text) for part in parts)
        if length >= limits.CUT_BLOCK_CHARACTERS:
            yield block
            block, length = [], 0
    if block:
        yield block


def cut(parts: Sequence[Document], chunker: Any) -> Iterator[Located]:
    """Yield the passages of a document, with the first character and the end of each.

    No passage crosses two of its parts. Raises `DatasetError` if the chunker fails, or gives a
    value that is not a passage, or one without its place.
    """
    for part, outcome in zip(parts, run_component(chunker, None, parts), strict=True):
        if outcome.value is None:
            raise DatasetError(f"cannot cut the document {part.document_id!r}: {outcome.reason}")
        for passage in outcome.value:
            yield _located(passage, chunker)


def _located(passage: object, chunker: object) -> Located:
    if not isinstance(passage, Passage):
        raise DatasetError(
            f"{chunker!r} gives {passage!r}, which is not a Passage; make passages by "
            f"document.passage(start, end)"
        )
    start, end = map(passage.labels.get, ("start", "end"))
    if not (isinstance(start, int) and isinstance(end, int)):
        raise DatasetError(
            f"{chunker!r} does not locate the passage {passage.passage_id!r}: it must "
            "have the labels start and end, as document.passage(start, end) sets them"
        )
    return passage, start, end


def repeated(passage_id: str, chunker: object) -> DatasetError:
    """Return the error of a chunker that gives two passages one id."""
    return DatasetError(
        f"{chunker!r} gives the id {passage_id!r} to two passages; give each "
        f"document its own id, and make passages by document.passage(start, end)"
    )
