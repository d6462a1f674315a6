"""An index of Ragstone's own in a database: one row per passage, filled batch by batch.

The name of an own index contains the fingerprint of everything that its rows depend on: a changed
corpus or parameter has another index. A row is found by its position in the corpus.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragstone.core import limits
from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import progress
from ragstone.errors import CallError, ConfigError, RagstoneError
from ragstone.types import Ranking

if TYPE_CHECKING:
    from ragstone.core.progress import Bar
    from ragstone.data.corpus import Corpus

BATCH: Final = 1000
"""Rows per request: 1,000 vectors of 1,024 numbers are 4 MB."""

Rows: TypeAlias = Callable[[int, int], list[dict[str, Any]]]
"""Returns the fields of each row from a position up to another."""
Hit: TypeAlias = tuple[float, str | int]
"""Score, the higher the better, and the id or position of a passage."""


@contextmanager
def client_faults(
    errors: type[Exception] | tuple[type[Exception], ...], where: str, way_out: str
) -> Iterator[None]:
    """Return a context that turns errors of a database's client into a `CallError`.

    Args:
        errors: the classes of the client's errors.
        where: the database and its address, for the message.
        way_out: the user's next step, for the message.
    """
    try:
        yield
    except RagstoneError:
        raise
    except errors as error:
        text = str(getattr(error, "message", "") or error) or type(error).__name__
        raise CallError(
            f"{where}: {' '.join(text.split())}; {way_out} What was written is kept: run the same "
            "command again to continue"
        ) from error


class OwnIndex(ABC):
    """An index that is written here; derive one class per database."""

    name: str
    rows: int
    """Number of passages."""

    @property
    @abstractmethod
    def shown(self) -> str:
        """The index, for messages: "the Milvus collection 'name'"."""

    @abstractmethod
    def exists(self) -> bool:
        """Return whether the index was created."""

    @abstractmethod
    def create(self, dimension: int | None) -> None:
        """Create the index; `dimension` is the length of the dense vectors, if there are any."""

    @abstractmethod
    def count(self, start: int = 0, stop: int | None = None) -> int:
        """Return the number of rows, in total or from one position up to another."""

    @abstractmethod
    def write(self, start: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows from a position on, in place of the existing ones."""

    @abstractmethod
    def finish(self) -> None:
        """Make the written rows visible to searches."""

    def is_full(self) -> bool:
        """Return whether every row is written; raise `ConfigError` if there are more."""
        if not self.exists():
            return False
        count = self.count()
        if count > self.rows:
            raise ConfigError(
                f"{self.shown} has {count:,} rows for {self.rows:,} passages: something else "
                "wrote to it; drop it and run again"
            )
        return count == self.rows

    def fill(self, dimension: int | None, batch: Rows, bar: Bar) -> None:
        """Write the missing rows; `dimension` is the length of the dense vectors."""
        if not self.exists():
            self.create(dimension)
        started = self.count() > 0
        for start in range(0, self.rows, BATCH):
            stop = min(start + BATCH, self.rows)
            if not (started and self.count(start, stop) == stop - start):
                self.write(start, batch(start, stop))
            bar.advance(stop - start)
        self.finish()

    def fill_if_needed(self, prepare: Callable[[], tuple[Rows, int | None]], to: str) -> None:
        """Write the missing rows; `prepare` returns rows and dimension, and is rarely called."""
        if not self.is_full():
            rows, dimension = prepare()
            with progress(f"Writing to {to}", self.rows) as bar:
                self.fill(dimension, rows, bar)


def own_name(corpus: Corpus, **made_of: Any) -> str:
    """Return the name of the index of a corpus and of everything else that shapes its rows."""
    return f"ragstone_{fingerprint({'corpus': corpus.content_digest, **made_of})}"


def by_position(hits: Sequence[Hit], corpus: Corpus, top_k: int) -> Ranking:
    """Return the ranking of positions in the corpus; equal scores are in its order."""
    ordered = sorted(
        ((score, int(place)) for score, place in hits), key=lambda hit: (-hit[0], hit[1])
    )[:top_k]
    return Ranking([corpus.passage_ids[p] for _, p in ordered], [s for s, _ in ordered])


def by_passage_id(
    found: Sequence[Sequence[Hit]], corpus: Corpus, top_k: int, index: str
) -> list[Ranking]:
    """Return the ranking of each query from passage ids; equal scores are in the corpus's order.

    A passage with several rows has the score of its best one.

    Raises:
        ConfigError: ids are not in the corpus; the message begins with `index`.
    """
    returned = dict.fromkeys(str(passage_id) for hits in found for _, passage_id in hits)
    unknown = [passage_id for passage_id in returned if passage_id not in corpus]
    if unknown:
        few = ", ".join(repr(one) for one in unknown[: limits.MAX_LISTED_VALUES])
        raise ConfigError(
            f"{index}: {len(unknown):,} of the {len(returned):,} passages that it returned are not "
            f"in the corpus ({few}); is it an index of other documents? If their ids are in a "
            "field, name it with id_field",
            key="id_field",
        )
    return [_ranking(hits, corpus, top_k) for hits in found]


def _ranking(hits: Sequence[Hit], corpus: Corpus, top_k: int) -> Ranking:
    best: dict[str, float] = {}
    for score, passage_id in hits:
        best[str(passage_id)] = max(score, best.get(str(passage_id), score))
    ordered = sorted(best, key=lambda one: (-best[one], corpus.position(one)))[:top_k]
    return Ranking(ordered, [best[one] for one in ordered])
