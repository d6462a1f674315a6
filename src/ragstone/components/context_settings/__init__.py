"""Context settings: one idea, which passages the generator sees, under several rules."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.types import ContextPassage, Origin, Passage


def shown(passages: Iterable[Passage], origin: Origin) -> tuple[ContextPassage, ...]:
    """Return passages as the generator is shown them, each with where it came from."""
    return tuple(ContextPassage(p.passage_id, p.full_text, origin) for p in passages)
