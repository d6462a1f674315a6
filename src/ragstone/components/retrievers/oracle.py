"""The perfect retriever: what the qrels call relevant, and nothing else. An upper bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import fingerprint
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, DatasetError
from ragstone.indexes.top_k import check_top_k
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus


@dataclass(frozen=True)
class Oracle:
    """Returns the relevant passages of a query, best grade first; the grade is the score.

    The one retriever that may look at the judgements: a `JudgedRetriever`, to which the pipeline
    hands them by `with_qrels`. A retriever of your own may do the same.

    Args:
        top_k: length of a ranking at most.
        qrels: query id -> passage id -> relevance. Left to the pipeline in an experiment file; in
            Python, `Oracle(qrels=dataset.qrels)`.
    """

    top_k: int = 100
    # Kept out of the parameters, which people read: `revision` puts their digest into the key.
    qrels: Mapping[str, Mapping[str, int]] | None = field(
        default=None, repr=False, metadata=NOT_IN_CACHE_KEY
    )
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the range."""
        check_top_k(self.top_k)

    @cached_property
    def revision(self) -> str | None:
        """Digest of the qrels, once they are there."""
        return None if self.qrels is None else fingerprint(self.qrels)

    def with_qrels(self, qrels: Mapping[str, Mapping[str, int]]) -> Oracle:
        """Return the retriever with the relevance judgements of a data set."""
        return replace(self, qrels=qrels)

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order; empty where nothing is relevant."""
        if self.qrels is None:
            raise ConfigError(
                "the retriever 'oracle' needs the relevance judgements of the data set: "
                "Oracle(qrels=dataset.qrels)"
            )
        rankings = [self._ranking(self.qrels.get(search.query_id, {})) for search in searches]
        unknown = [repr(p) for r in rankings for p in r.passage_ids if p not in corpus]
        if unknown:
            raise DatasetError(
                f"the qrels name {len(unknown):,} passages that are not in the corpus: "
                f"{listed(unknown)}"
            )
        return rankings

    def _ranking(self, grades: Mapping[str, int]) -> Ranking:
        relevant = {passage_id: grade for passage_id, grade in grades.items() if grade > 0}
        ordered = sorted(relevant, key=relevant.__getitem__, reverse=True)[: self.top_k]
        return Ranking(ordered, [float(relevant[passage_id]) for passage_id in ordered])
