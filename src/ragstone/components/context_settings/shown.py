"""Passages in the form shown to a generator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

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
    given = value or ()
    passages = [p if isinstance(p, ContextPassage) else _with_origin(p, candidates) for p in given]
    return Context(query_id, setting, tuple(passages))


def _with_origin(passage: Passage, candidates: Candidates) -> ContextPassage:
    if not isinstance(passage, Passage):
        raise ComponentError(
            f"the context of query {candidates.query.query_id!r} has {passage!r}, which is not a "
            "passage; return some of gold.passages, noise.passages and retrieved.passages",
            query_id=candidates.query.query_id,
            value=passage,
        )
    origin: Origin = "retrieved"
    if passage in candidates.gold.passages:
        origin = "gold"
    elif passage in candidates.noise.passages:
        origin = "noise"
    return shown([passage], origin)[0]
