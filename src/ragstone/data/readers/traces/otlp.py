"""Spans of OTLP: the fields that its JSON and its protobuf share, read by their convention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ragstone.data.readers.traces.genai import Events, is_genai, read_genai
from ragstone.data.readers.traces.openinference import MARK, read_openinference
from ragstone.data.readers.traces.span import Operation, TraceSpan

_IS_REMOTE: Final = 0x200
"""Bit of a span's flags: its parent is in another process."""
_CONVERSATIONS: Final = ("gen_ai.conversation.id", "session.id")
_UNKNOWN: Final = "unknown_service"
"""The start of the service name that an SDK writes if there is none."""


@dataclass(frozen=True, slots=True)
class OtlpSpan:
    """The fields of a span of OTLP, with attributes as plain data."""

    trace_id: str
    span_id: str
    parent_id: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    events: Events
    failed: bool
    message: str
    flags: int
    dropped: int


def read_span(span: OtlpSpan, resource: Mapping[str, Any], schema_url: str) -> TraceSpan:
    """Return a span with the operation of its convention.

    Args:
        span: its fields.
        resource: the attributes of the resource, such as `service.name`.
        schema_url: schema of the instrumentation, or else of the resource.
    """
    given = span.attributes
    names = (given.get(name) for name in _CONVERSATIONS)
    service = str(resource.get("service.name") or "")
    return TraceSpan(
        span.trace_id,
        span.span_id,
        span.parent_id,
        span.start,
        span.end,
        _operation(span),
        error=_error(span) if span.failed else "",
        parent_is_remote=bool(span.flags & _IS_REMOTE),
        system="" if service.startswith(_UNKNOWN) else service,
        conversation=next((str(name) for name in names if name), ""),
        schema_url=schema_url,
        has_dropped=span.dropped > 0,
    )


def _operation(span: OtlpSpan) -> Operation | None:
    if MARK in span.attributes:
        return read_openinference(span.attributes)
    return read_genai(span.attributes, span.events) if is_genai(span.attributes) else None


def _error(span: OtlpSpan) -> str:
    """Return the reason of a failed span: its message, its exception, or the type of the error."""
    raised = next((values for name, values in span.events if name == "exception"), {})
    kind = raised.get("exception.type") or span.attributes.get("error.type") or ""
    said = raised.get("exception.message") or ""
    return span.message or ": ".join(str(part) for part in (kind, said) if part) or "it failed"
