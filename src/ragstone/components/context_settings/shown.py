"""Passages in the form shown to a generator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ragstone.data.readers.rows import show
from ragstone.errors import ComponentError
from ragstone.types import Candidates, Context, ContextPassage, Origin, Passage


def shown(passages: Iterable[Passage], origin: Origin) -> tuple[ContextPassage, ...]:
    """Return passages in the form shown to a generator, each with its origin."""
    return tuple(ContextPassage(p.passage_id, p.full_text, origin) for p in passages)


def as_context(value: Any, candidates: Candidates, setting: str) -> Context:
    """Return the context that a setting built: a context, or some of the candidate passages.

    Raises:
        ComponentError: the value is anything else.
    """
    query_id = candidates.query.query_id
    if isinstance(value, Context):
        return replace(value, query_id=query_id, setting=setting)
    given = list(value or ()) if isinstance(value, Iterable | None) else [value]
    if not all(isinstance(passage, Passage | ContextPassage) for passage in given):
        raise ComponentError(
            f"the setting {setting!r} returned {show(value)} for query {query_id!r}; it must "
            "return a Context or a list of passages per item",
            query_id=query_id,
            value=value,
        )
    passages = [p if isinstance(p, ContextPassage) else _with_origin(p, candidates) for p in given]
    return Context(query_id, setting, tuple(passages))


def _with_origin(passage: Passage, candidates: Candidates) -> ContextPassage:
    origin: Origin = "retrieved"
    if passage in candidates.gold.passages:
        origin = "gold"
    elif passage in candidates.noise.passages:
        origin = "noise"
    return shown([passage], origin)[0]
