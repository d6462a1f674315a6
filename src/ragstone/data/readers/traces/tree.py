"""The tree of a trace's spans: which operations belong to one query, and which contains which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ragstone.data.readers.traces.span import Kind, TraceSpan

_COUNTED_ONCE: frozenset[Kind] = frozenset({"model", "retrieval"})
"""Kinds of which a span inside another of its kind reports the same work again."""


class TraceTree:
    """The spans of one trace; a span that was written twice counts once."""

    def __init__(self, spans: Iterable[TraceSpan]) -> None:
        self._by_id = {span.span_id: span for span in sorted(spans, key=lambda s: s.start)}
        self._children: dict[str, list[TraceSpan]] = {}
        for span in self._by_id.values():
            if span.parent_id in self._by_id:
                self._children.setdefault(span.parent_id, []).append(span)

    @cached_property
    def tops(self) -> list[TraceSpan]:
        """The spans whose parent is not among the spans, by time."""
        return [span for span in self._by_id.values() if span.parent_id not in self._by_id]

    @property
    def is_complete(self) -> bool:
        """Whether no parent is missing, except for traces and for spans of other processes."""
        return bool(self.tops) and all(
            span.parent_id in ("", span.trace_id) or span.parent_is_remote for span in self.tops
        )

    @property
    def spans(self) -> Iterable[TraceSpan]:
        """All spans, by time."""
        return self._by_id.values()

    def queries(self) -> list[list[TraceSpan]]:
        """Return the top spans of each query: one list, unless several tops answer a query each."""
        systems = [
            top
            for top in self.tops
            if top.parent_id != top.trace_id
            and (system := self._first_system(top))
            and system.operation
            and system.operation.query
            and system.operation.answer
        ]
        return [[top] for top in systems] if len(systems) > 1 else [self.tops]

    def _first_system(self, top: TraceSpan) -> TraceSpan | None:
        return next((span for span, _ in self._walk([top]) if _kind(span) == "system"), None)

    def operations(self, tops: Sequence[TraceSpan]) -> list[TraceSpan]:
        """Return the spans below some tops that did something for their query, by time.

        Not among them are evaluations with all that they contain, and a search or a model call
        inside another one, if the outer one carries its result.
        """
        found: dict[str, TraceSpan] = {}
        for span, outer in self._walk(tops):
            kind = span.operation.kind if span.operation else "other"
            repeated = [o for o in outer if kind in _COUNTED_ONCE and _kind(o) == kind]
            if any(_carries_result(other) for other in repeated):
                continue
            for other in repeated:
                found.pop(other.span_id, None)
            if kind != "other":
                found[span.span_id] = span
        return sorted(found.values(), key=lambda s: s.start)

    def _walk(self, tops: Sequence[TraceSpan]) -> Iterator[tuple[TraceSpan, tuple[TraceSpan, ...]]]:
        """Yield each span with the searches and model calls around it, parents first."""
        waiting: list[tuple[TraceSpan, tuple[TraceSpan, ...]]]
        waiting = [(top, ()) for top in reversed(tops)]
        while waiting:
            span, outer = waiting.pop()
            if _kind(span) == "evaluation":
                continue
            yield span, outer
            inside = _outer_with(span, outer) if _kind(span) in _COUNTED_ONCE else outer
            children = self._children.get(span.span_id, ())
            waiting.extend((child, inside) for child in reversed(children))

    def around(self, span: TraceSpan) -> list[TraceSpan]:
        """Return the systems that contain a span, the outermost first."""
        found = []
        parent = self._by_id.get(span.parent_id)
        while parent is not None:
            if _kind(parent) == "system":
                found.append(parent)
            parent = self._by_id.get(parent.parent_id)
        return found[::-1]


def _kind(span: TraceSpan) -> Kind:
    return span.operation.kind if span.operation else "other"


def _outer_with(span: TraceSpan, outer: tuple[TraceSpan, ...]) -> tuple[TraceSpan, ...]:
    """Return one span per kind around the children of a span: the one that carries the result."""
    same = [other for other in outer if _kind(other) == _kind(span)]
    if any(map(_carries_result, same)):
        return outer
    return (*(other for other in outer if other not in same), span)


def _carries_result(span: TraceSpan) -> bool:
    operation = span.operation
    return operation is not None and bool(operation.passages or operation.tokens_in is not None)
