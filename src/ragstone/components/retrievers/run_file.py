"""Replays a run: rankings that another system, or an earlier day, wrote to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import digest_file
from ragstone.data.readers.rows import listed
from ragstone.data.readers.trec import read_run
from ragstone.errors import DatasetError
from ragstone.indexes.top_k import check_top_k
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus


@dataclass(frozen=True)
class RunFile:
    """The rankings of a TREC run file, plain or gzip.

    A query that the run does not name gets an empty ranking; a run that names none of the queries,
    or passages that are not in the corpus, belongs to another data set and is an error.

    Args:
        path: of the run file.
        top_k: length of a ranking at most.
    """

    path: str = field(metadata=NOT_IN_CACHE_KEY)
    top_k: int = 100
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the range."""
        check_top_k(self.top_k)

    @cached_property
    def revision(self) -> str:
        """SHA-256 of the file: the rankings are those of its bytes, wherever it lies."""
        path = Path(self.path)
        if not path.is_file():
            raise DatasetError(f"{path}: no such run file; give the path of a TREC run")
        return digest_file(path)

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order."""
        if searches and not any(search.query_id in self._rankings for search in searches):
            raise DatasetError(
                f"{self.path} has no ranking for any of the {len(searches)} queries: it names "
                f"{listed([repr(q) for q in self._rankings]) or 'none'}, the data set "
                f"{listed([repr(s.query_id) for s in searches])}; is it the run of this data set?"
            )
        found = [self._rankings.get(search.query_id, Ranking()) for search in searches]
        cut = [Ranking(r.passage_ids[: self.top_k], r.scores[: self.top_k]) for r in found]
        self._check_passages(cut, corpus)
        return cut

    def _check_passages(self, rankings: Sequence[Ranking], corpus: Corpus) -> None:
        named = dict.fromkeys(p for ranking in rankings for p in ranking.passage_ids)
        unknown = [repr(p) for p in named if p not in corpus]
        if unknown:
            raise DatasetError(
                f"{self.path} ranks {len(unknown):,} passages that are not in the corpus: "
                f"{listed(unknown)}; is it the run of this data set?"
            )

    @cached_property
    def _rankings(self) -> Mapping[str, Ranking]:
        return read_run(Path(self.path))
