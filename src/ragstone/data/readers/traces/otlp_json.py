"""OTLP as JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ragstone.data.readers.rows import FieldError, show
from ragstone.data.readers.traces.otlp import OtlpSpan, read_span
from ragstone.data.readers.traces.span import TraceSpan

FIELD: Final = "resourceSpans"
"""The field of a request or a document that contains traces."""
_ERROR: Final = (2, "STATUS_CODE_ERROR")


def json_spans(document: Mapping[str, Any]) -> Iterator[TraceSpan]:
    """Yield the spans of an ExportTraceServiceRequest or TracesData; they are one message.

    Raises:
        FieldError: a field has another type than OTLP's.
    """
    for group in objects(document, FIELD):
        resource = _attributes(_object(group, "resource"))
        for scope in objects(group, "scopeSpans"):
            schema = str(scope.get("schemaUrl") or group.get("schemaUrl") or "")
            for span in objects(scope, "spans"):
                yield read_span(_span(span), resource, schema)


def _span(span: Mapping[str, Any]) -> OtlpSpan:
    status = _object(span, "status")
    if not span.get("traceId") or not span.get("spanId"):
        raise FieldError(f"a span needs a traceId and a spanId, found {show(span)}")
    return OtlpSpan(
        str(span["traceId"]),
        str(span["spanId"]),
        str(span.get("parentSpanId") or ""),
        _whole(span, "startTimeUnixNano"),
        _whole(span, "endTimeUnixNano"),
        _attributes(span),
        [(str(event.get("name")), _attributes(event)) for event in objects(span, "events")],
        status.get("code") in _ERROR,
        str(status.get("message") or ""),
        _whole(span, "flags"),
        _whole(span, "droppedAttributesCount"),
    )


def _attributes(owner: Mapping[str, Any]) -> dict[str, Any]:
    return _pairs(owner, "attributes")


def _pairs(owner: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {str(pair.get("key")): _value(_object(pair, "value")) for pair in objects(owner, name)}


def _value(value: Mapping[str, Any]) -> Any:
    """Return an AnyValue as plain data; 64-bit integers are texts in JSON."""
    if "arrayValue" in value:
        return [_value(item) for item in objects(_object(value, "arrayValue"), "values")]
    if "kvlistValue" in value:
        return _pairs(_object(value, "kvlistValue"), "values")
    if "intValue" in value:
        return _whole(value, "intValue")
    return next(iter(value.values()), None)


def objects(owner: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return a field that is a list of objects; raise `FieldError` if it is something else."""
    found = owner.get(name) or []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise FieldError(f"the field {name!r} must be a list of objects, found {show(found)}")
    return found


def _object(owner: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = owner.get(name) or {}
    if not isinstance(found, dict):
        raise FieldError(f"the field {name!r} must be an object, found {show(found)}")
    return found


def _whole(owner: Mapping[str, Any], name: str) -> int:
    found = owner.get(name) or 0
    try:
        value = int(found)
    except (TypeError, ValueError, OverflowError):
        value = None
    if value is None or not -(2**63) <= value < 2**64:
        raise FieldError(f"the field {name!r} must be a whole number, found {show(found)}")
    return value
