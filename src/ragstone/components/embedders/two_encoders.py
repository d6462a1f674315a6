"""Dense embedders that may have one encoder for queries and another for passages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from ragstone.core.component import Outcome
from ragstone.errors import ConfigError
from ragstone.protocols import Embedder, Role, Services


class TwoEncoders(Embedder):
    """An embedder with the fields `model` and `query_model`.

    A subclass has the verbs of one encoder. With `query_model`, queries are embedded by the same
    embedder with that model; its vectors must have the same length.
    """

    model: str
    query_model: str

    def __post_init__(self) -> None:
        """Create the encoder of queries while the experiment file's folder is known."""
        super().__post_init__()
        _ = self._for_queries

    @abstractmethod
    def own_revision(self) -> str:
        """Return the digest of the model's files."""

    @abstractmethod
    def own_check(self, services: Services) -> None:
        """Raise if the model cannot be run."""

    @abstractmethod
    def own_notes(self, dataset: Any) -> Iterator[str]:
        """Yield notes on texts that the encoder cannot read."""

    @abstractmethod
    def own_embed(
        self, texts: Sequence[str], role: Role, services: Services
    ) -> Iterable[Outcome[Any]]:
        """Return one vector per text by the model."""

    @cached_property
    def content_revision(self) -> str | list[str]:
        """The digest of the model's files, or those of both models."""
        own, other = self.own_revision(), self._for_queries
        return own if other is None else [own, other.own_revision()]

    def check(self, services: Services) -> None:
        """Raise if a model cannot be run, or if two models have vectors of different lengths."""
        self.own_check(services)
        other = self._for_queries
        if other is not None:
            other.own_check(services)
            found, expected = (_dimension(one, services) for one in (other, self))
            if found != expected:
                raise ConfigError(
                    f"query_model {self.query_model!r} has vectors of {found} dimensions, and "
                    f"model {self.model!r} of {expected}; give two encoders trained as a pair"
                )

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return a note if an encoder cannot read the queries or the passages."""
        other = self._for_queries
        return [*self.own_notes(dataset), *(() if other is None else other.own_notes(dataset))]

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterable[Outcome[Any]]:
        """Return one vector per text."""
        other = self._for_queries if role == "query" else None
        return (self if other is None else other).own_embed(texts, role, services)

    @cached_property
    def _for_queries(self) -> Self | None:
        return replace(self, **self.query_fields()) if self.query_model else None  # type: ignore[type-var]

    def query_fields(self) -> dict[str, Any]:
        """Return the fields in which the encoder of queries differs."""
        return {"model": self.query_model, "query_model": ""}


def _dimension(encoder: TwoEncoders, services: Services) -> int:
    (outcome,) = encoder.own_embed(["a"], "passage", services)
    return len(outcome.value)
