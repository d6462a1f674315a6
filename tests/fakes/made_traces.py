"""Spans of OTLP's JSON, written by hand: what no package writes, or no longer writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def any_value(value: Any) -> dict[str, Any]:
    """Return a value in OTLP's JSON."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes in OTLP's JSON."""
    return [{"key": name, "value": any_value(value)} for name, value in values.items()]


def made_span(
    span_id: str,
    parent_id: str = "",
    attributes: Mapping[str, Any] | None = None,
    *,
    at: tuple[int, int] = (1, 2),
    events: Mapping[str, Mapping[str, Any]] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return a span of the trace `t` in OTLP's JSON; `at` is its start and end in nanoseconds."""
    listed = [{"name": name, "attributes": pairs(v)} for name, v in (events or {}).items()]
    known = {"traceId": "t", "spanId": span_id, "parentSpanId": parent_id, "flags": 256}
    times = {"startTimeUnixNano": str(at[0]), "endTimeUnixNano": str(at[1])}
    return {**known, **times, "attributes": pairs(attributes or {}), "events": listed, **fields}


def write_traces(path: Path, *spans: Mapping[str, Any], service: str = "mine") -> Path:
    """Write spans as one line of a file of traces, and return its path."""
    resource = {"attributes": pairs({"service.name": service})}
    group = {"resource": resource, "scopeSpans": [{"scope": {}, "spans": spans}]}
    path.write_text(json.dumps({"resourceSpans": [group]}) + "\n")
    return path
