"""Helpers that several test files share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.core.component import Component, run_component
from ragstone.data.corpus import Corpus
from ragstone.indexes.embed import embed_texts
from ragstone.protocols import Embedder, Retriever, Role, Services
from ragstone.types import Ranking, Search


def values(part: Component, services: Services, *lists: Sequence[Any], **named: Any) -> list[Any]:
    """Return the value per item of a component's verb."""
    return [outcome.value for outcome in run_component(part, services, *lists, **named)]


def rankings(
    retriever: Retriever, searches: Sequence[Search], corpus: Corpus, **services: Any
) -> list[Ranking]:
    """Return the ranking of each search."""
    return values(retriever, Services(corpus=corpus, **services), searches)


def vectors(embedder: Embedder, role: Role, *texts: str, **services: Any) -> list[Any]:
    """Return the vectors of each text."""
    return [outcome.value for outcome in embed_texts(embedder, texts, role, Services(**services))]
