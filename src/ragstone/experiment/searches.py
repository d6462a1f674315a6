"""The searches of a step by collection: each collection has its own corpus and index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.core.component import Component, Outcome
from ragstone.data.corpus import JOIN
from ragstone.types import Ranking

if TYPE_CHECKING:
    from ragstone.protocols import Services
    from ragstone.types import Search


def without_text(searches: Sequence[Search], retriever: Component) -> dict[str, Outcome[Ranking]]:
    """Return query id -> empty ranking for each search without text, which finds nothing.

    It is that of a query whose translation failed. A retriever that does not read the search text
    (`reads_text = False`), such as a run file, has rankings of such queries all the same.
    """
    if not getattr(retriever, "reads_text", True):
        return {}
    found = Outcome(Ranking(), "the search text is empty")
    return {search.query_id: found for search in searches if not search.text}


def services_of(services: Services, collection: str | None) -> Services:
    """Return the services of the searches in one collection; None leaves them unchanged."""
    if collection is None:
        return services
    return services.of_step(services.qrels, services.corpus.part(collection))


def parts_of(services: Services, collections: Iterable[str | None]) -> list[str | None]:
    """Return the collections that these ones join, each once: they have the vectors of the join."""
    known = services.corpus.collections
    parts = ([c] if c is None or c in known else c.split(JOIN) for c in collections)
    return list(dict.fromkeys(part for group in parts for part in group))


def by_collection(
    searches: Sequence[Search], collections: Mapping[str, str] | None, services: Services
) -> Iterator[tuple[list[Search], Services]]:
    """Yield the searches of each collection, and the services with its corpus.

    `collections` maps query ids to collections; None means one corpus.
    """
    if not collections:
        yield list(searches), services
        return
    found: dict[str, list[Search]] = {}
    for search in searches:
        found.setdefault(collections[search.query_id], []).append(search)
    for name, own in found.items():
        yield own, services_of(services, name)
