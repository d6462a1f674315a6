"""Rankings from a run file that another system or an earlier trial wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.fingerprint import digest_file
from ragstone.data.readers.rows import listed
from ragstone.data.readers.trec import read_run
from ragstone.errors import DatasetError
from ragstone.protocols import Retriever, Services
from ragstone.types import Ranking, Search


@dataclass(frozen=True)
class RunFile(Retriever):
    """The rankings of a TREC run file, plain or gzip.

    A query that is not in the run has an empty ranking. A run without any of the queries, or with
    passages that are not in the corpus, is from another data set, which is an error.

    Args:
        path: the run file.
        top_k: maximum length of a ranking.
    """

    path: str = field(metadata=NOT_IN_CACHE_KEY)
    top_k: int = 100
    reads_text = False

    @cached_property
    def content_revision(self) -> str:
        """SHA-256 of the file: the rankings depend on its bytes and not on its path."""
        path = Path(self.path)
        if not path.is_file():
            raise DatasetError(f"{path}: no such run file; give the path of a TREC run", path=path)
        return digest_file(path)

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterator[Outcome[Ranking]]:
        """Yield one ranking per search, in order."""
        if searches and not any(search.query_id in self._rankings for search in searches):
            raise DatasetError(
                f"{self.path} has no ranking for any of the {len(searches)} queries: it ranks for "
                f"{listed([repr(q) for q in self._rankings]) or 'none'}, the data set has "
                f"{listed([repr(s.query_id) for s in searches])}; is it the run of this data set?"
            )
        found = [self._rankings.get(search.query_id, Ranking()) for search in searches]
        cut = [Ranking(r.passage_ids[: self.top_k], r.scores[: self.top_k]) for r in found]
        ranked = dict.fromkeys(p for ranking in cut for p in ranking.passage_ids)
        unknown = [repr(p) for p in ranked if p not in services.corpus]
        if unknown:
            raise DatasetError(
                f"{self.path} ranks {len(unknown):,} passages that are not in the corpus: "
                f"{listed(unknown)}; is it the run of this data set?"
            )
        yield from map(Outcome, cut)

    @cached_property
    def _rankings(self) -> Mapping[str, Ranking]:
        return read_run(Path(self.path))
