"""Passages in the form shown to a generator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragstone.core.component import typed
from ragstone.types import Candidates, Context, ContextPassage, Origin, Passage

if TYPE_CHECKING:
    from ragstone.protocols import ContextSetting


def shown(passages: Iterable[Passage], origin: Origin) -> tuple[ContextPassage, ...]:
    """Return passages in the form shown to a generator, each with its origin."""
    return tuple(ContextPassage(p.passage_id, p.full_text, origin) for p in passages)


def as_context(value: Any, candidates: Candidates, setting: ContextSetting) -> Context:
    """Return the context that a setting built: a context, or some of the candidate passages.

    Raises:
        ComponentError: the value is of another type.
    """
    query_id, name = candidates.query.query_id, setting.setting
    if isinstance(value, Context):
        return replace(value, query_id=query_id, setting=name)
    given = () if value is None else typed(value, Iterable, setting, query_id)
    passages = [
        passage
        if isinstance(passage, ContextPassage)
        else _with_origin(typed(passage, Passage, setting, query_id), candidates)
        for passage in given
    ]
    return Context(query_id, name, tuple(passages))


def _with_origin(passage: Passage, candidates: Candidates) -> ContextPassage:
    origin: Origin = "retrieved"
    if passage in candidates.gold.passages:
        origin = "gold"
    elif passage in candidates.noise.passages:
        origin = "noise"
    return shown([passage], origin)[0]
