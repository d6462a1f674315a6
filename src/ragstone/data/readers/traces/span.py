"""Spans of traces in one form, whatever wrote them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["system", "model", "retrieval", "reranking", "evaluation", "other"]
"""Kind of an operation. A system is an application, a chain or an agent: it contains others."""


@dataclass(frozen=True, slots=True)
class TracedPassage:
    """A retrieved passage, as far as a span carries it."""

    passage_id: str = ""
    text: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """The content of a span by its convention; an absent text is ""."""

    kind: Kind
    convention: str
    query: str = ""
    """Input of a system, query of a search, or last message of the user to a model."""
    answer: str = ""
    """Output of a system or a model."""
    passages: tuple[TracedPassage, ...] = ()
    """Passages that a search or a reranker returned, best first."""
    candidates: tuple[TracedPassage, ...] = ()
    """Passages that a reranker was given."""
    prompt: str = ""
    """All texts that a model was given."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span of a trace."""

    trace_id: str
    span_id: str
    parent_id: str = ""
    """Span that contains this one; "" for the first, or the id of a trace that is itself a span."""
    start: int = 0
    """Time in nanoseconds since 1970."""
    end: int = 0
    operation: Operation | None = None
    """None if the span follows no known convention."""
    error: str = ""
    """Reason of a failed operation; "" if it did not fail."""
    parent_is_remote: bool = False
    """Whether the parent is a span of another process, which may write other files."""
    system: str = ""
    """Name of the service."""
    conversation: str = ""
    schema_url: str = ""
    has_dropped: bool = False
    """Whether attributes of the span were dropped when it was recorded."""
