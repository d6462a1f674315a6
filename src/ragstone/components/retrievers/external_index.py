"""The base of the retrievers by a search engine or database.

Without the name of an index, the retriever searches an index of its own, which it fills from the
corpus. With a name, it only reads: the content of the index cannot be known from here, so each run
searches it again, unless `release` declares its version.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Self

from ragstone.calls.identity import address_parts, identify
from ragstone.core.component import NOT_IN_CACHE_KEY, SET_BY_A_RUN
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError
from ragstone.indexes.own_index import Hit, by_passage_id, by_position
from ragstone.protocols import Retriever
from ragstone.types import Ranking

_SPARE: Final = 64
"""Hits requested beyond `top_k`, so that the order of the corpus decides ties at the end."""


@dataclass(frozen=True, kw_only=True)
class ExternalIndex(Retriever):
    """A retriever by an index in a search engine or database.

    Args:
        top_k: maximum length of a ranking.
        release: version of an index of yours, declared by you. Rankings of one release are kept
            from run to run; without it, each run searches again.
        identity: the parts that distinguish an index of yours from others: by default its name and
            whole address; a text is a name in their place (docs/identity.md).
        run: the run that the rankings belong to, set by an experiment.
    """

    top_k: int = 100
    release: str = ""
    identity: str | list[str] = field(default="", metadata=NOT_IN_CACHE_KEY)
    run: str = field(default="", metadata=SET_BY_A_RUN)

    engine_name: ClassVar[str]
    needs_model = True

    def __post_init__(self) -> None:
        """Check the parameters that do not belong together."""
        super().__post_init__()
        if self.longest is not None and self.top_k > self.longest:
            raise ConfigError(
                f"top_k must be 1 to {self.longest:,} with {self.engine_name}, found {self.top_k}"
            )
        if self.release and not self.existing:
            raise ConfigError(
                "release is the version of an index of yours; name the index, or leave release out",
                key="release",
            )

    @property
    def longest(self) -> int | None:
        """Maximum length of a ranking; None if there is no bound."""
        return None

    @property
    @abstractmethod
    def existing(self) -> str:
        """The name of the user's index; "" for one that is filled from the corpus."""

    @property
    @abstractmethod
    def address(self) -> str:
        """The address of the server or the path of the database."""

    @property
    def made_of(self) -> Mapping[str, Any]:
        """Cache keys of the components that are used."""
        return {}

    @property
    def content_revision(self) -> dict[str, Any]:
        """The identity of the user's index, and the cache keys of the components used."""
        if not self.existing:
            return {**self.made_of}
        parts = {**address_parts([self.address]), "index": self.existing}
        known = identify(parts, self.identity, where=self.engine_name)
        return {**self.made_of, "identity": known}

    @property
    def declared_release(self) -> str | None:
        """The version of the user's index; None for an index that is filled from the corpus."""
        return self.release if self.existing else None

    def of_run(self, run: str) -> Self:
        """Return the retriever with rankings of its own for a run."""
        return replace(self, run=run) if self.existing else self

    @property
    def requested(self) -> int:
        """Number of hits to request per query."""
        return min(self.top_k + _SPARE, self.longest or self.top_k + _SPARE)

    def rankings(self, found: Sequence[Sequence[Hit]], corpus: Corpus) -> list[Ranking]:
        """Return the ranking of each query from its hits.

        Raises:
            ConfigError: ids of the user's index are not in the corpus.
        """
        if self.existing:
            return by_passage_id(found, corpus, self.top_k, f"the index {self.existing!r}")
        return [by_position(hits, corpus, self.top_k) for hits in found]
