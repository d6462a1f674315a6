"""Whether an index of yours can be searched as asked: each error describes the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ragstone.errors import ConfigError, did_you_mean

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "bm25": ("text", "match_only_text", "search_as_you_type"),
    "dense": ("dense_vector", "knn_vector"),
    "elser": ("sparse_vector", "rank_features"),
}
"""Query -> types of the fields that it searches."""
OPTIONS: Final = {"bm25": "text_field", "dense": "vector_field", "elser": "expansion_field"}
"""Query -> the parameter that names its field."""


def check_fields(
    index: str, has: Mapping[str, Mapping[str, Any]], query: str, searched: Sequence[str]
) -> None:
    """Raise `ConfigError` if a searched field is absent or of a type that the query cannot search.

    Args:
        index: the name of the index.
        has: field -> its settings.
        query: the kind of query.
        searched: the fields.
    """
    legal = _KINDS[query]
    for name in searched:
        kind = has.get(name, {}).get("type", "object" if name in has else "")
        if kind in legal:
            continue
        problem = f"no field {name!r}" if not kind else f"a field {name!r} of type {kind!r}"
        suited = [other for other in has if has[other].get("type") in legal]
        raise ConfigError(
            f"the index {index!r} has {problem}, and query: {query} searches fields of type "
            f"{' or '.join(legal)}; name one with {OPTIONS[query]}{did_you_mean(name, suited)}",
            key=OPTIONS[query],
            value=name,
        )


def check_id_field(index: str, has: Mapping[str, Any], name: str) -> None:
    """Raise `ConfigError` if the index has no field of the passage ids."""
    if name != "_id" and name not in has:
        raise ConfigError(
            f"the index {index!r} has no field {name!r} for passage ids{did_you_mean(name, has)}",
            key="id_field",
            value=name,
        )


def check_dimension(
    index: str, has: Mapping[str, Mapping[str, Any]], field: str, dimension: int, embedder: object
) -> None:
    """Raise `ConfigError` if the vectors of an index have another length than the embedder's."""
    length = has[field].get("dims") or has[field].get("dimension")
    if length and length != dimension:
        raise ConfigError(
            f"the vectors in {field!r} of the index {index!r} have {length} dimensions, and those "
            f"of the embedder {embedder!r} have {dimension}; name the embedder that made them",
            key="embedder",
            value=dimension,
        )
