"""OTLP as protobuf: https://github.com/open-telemetry/opentelemetry-proto.

The messages that contain spans are walked here, so that the spans before a cut are read; a span
itself is parsed by OpenTelemetry's own classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ragstone.core.environment import require
from ragstone.data.readers.rows import FieldError
from ragstone.data.readers.traces.otlp import OtlpSpan, read_span
from ragstone.data.readers.traces.span import TraceSpan

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

FIRST_BYTE: Final = 0x0A
"""The first byte of TracesData and of a request: field 1, which is a message."""
_SHIFTS: Final = range(0, 64, 7)
_BYTES_OF: Final = {1: 8, 5: 4}
"""Wire type of a fixed number -> its bytes."""
_MESSAGE: Final = 2
_RESOURCE, _SCOPES, _SCHEMA = 1, 2, 3
"""Fields of ResourceSpans."""
_SPANS: Final = 2
"""Field of ScopeSpans; its schema has the number of that of ResourceSpans."""
_ERROR: Final = 2


class CutMessage(ValueError):
    """The bytes end within a message."""


class _Field(NamedTuple):
    number: int
    content: memoryview
    is_whole: bool


def varint(data: memoryview | bytes, at: int) -> tuple[int, int]:
    """Return a number at a position, and the position after it; raise `CutMessage`.

    >>> varint(bytes([0x96, 0x01]), 0)
    (150, 2)
    """
    value = 0
    for place, shift in enumerate(_SHIFTS, start=at):
        if place >= len(data):
            raise CutMessage
        value |= (data[place] & 0x7F) << shift
        if data[place] < 0x80:  # noqa: PLR2004
            return value, place + 1
    raise FieldError("a number has more than 64 bits; this is not protobuf")


def _fields(message: memoryview) -> Iterator[_Field]:
    """Yield the messages and texts in a message; a last one that is cut is marked so."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        wire = key & 7
        if key <= 7:  # noqa: PLR2004 - no field has the number 0; a bomb of zeros is not walked
            raise FieldError("a field has the number 0; this is not OTLP's protobuf")
        if wire == 0:
            _, at = varint(message, at)
        elif wire in _BYTES_OF:
            at += _BYTES_OF[wire]
        elif wire == _MESSAGE:
            size, at = varint(message, at)
            yield _Field(key >> 3, message[at : at + size], at + size <= len(message))
            at += size
        else:
            raise FieldError(f"the wire type {wire} is not one of OTLP's; this is not its protobuf")
    if at > len(message):
        raise CutMessage


def protobuf_spans(data: memoryview) -> Iterator[TraceSpan]:
    """Yield the spans of an ExportTraceServiceRequest or TracesData; they are one message.

    Raises:
        CutMessage: the bytes end within the message; all whole spans were yielded before.
        FieldError: the bytes are not such a message.
        MissingDependency: the extra `traces` is not installed.
    """
    require("reading OTLP protobuf", "traces", "opentelemetry", "opentelemetry.proto")
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

    try:
        for group in _fields(data):
            parts, is_cut = _until_cut(group.content)
            whole = [part for part in parts if part.is_whole]
            found = [p.content for p in whole if p.number == _RESOURCE]
            resource = _attributes(Resource.FromString(bytes(found[0])).attributes) if found else {}
            outer = _schema(whole)
            for scope in (part for part in parts if part.number == _SCOPES):
                inner, scope_is_cut = _until_cut(scope.content)
                schema = _schema([part for part in inner if part.is_whole]) or outer
                for part in inner:
                    if part.number == _SPANS and part.is_whole:
                        span = Span.FromString(bytes(part.content))
                        yield read_span(_span(span), resource, schema)
                is_cut = is_cut or scope_is_cut
            if is_cut:
                raise CutMessage
    except DecodeError as error:
        raise FieldError(f"a message is not OTLP's protobuf ({error})") from error


def join_spans(shared: bytes, spans: Iterable[bytes]) -> bytes:
    """Return a TracesData of ResourceSpans with one scope, and of spans that belong into it."""
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, TracesData

    group = ResourceSpans.FromString(shared)
    group.scope_spans[0].spans.extend(Span.FromString(content) for content in spans)
    return bytes(TracesData(resource_spans=[group]).SerializeToString())


def _until_cut(message: memoryview) -> tuple[list[_Field], bool]:
    """Return the fields of a message, and whether it is cut."""
    found: list[_Field] = []
    try:
        for part in _fields(message):
            found.append(part)  # noqa: PERF402
    except CutMessage:
        return found, True
    return found, False


def _schema(parts: list[_Field]) -> str:
    found = next((bytes(part.content) for part in parts if part.number == _SCHEMA), b"")
    return found.decode("utf-8", "replace")


def _span(span: Span) -> OtlpSpan:
    return OtlpSpan(
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        _attributes(span.attributes),
        [(event.name, _attributes(event.attributes)) for event in span.events],
        span.status.code == _ERROR,
        span.status.message,
        span.flags,
        span.dropped_attributes_count,
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    """Return an AnyValue as plain data."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    return None if kind is None else getattr(value, kind)
