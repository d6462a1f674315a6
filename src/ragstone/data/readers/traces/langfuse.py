"""Langfuse's exports: observations and traces of its API, its pages and its blob storage.

https://langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields. Fields are
written as `trace_id` or as `traceId`, by the way of the export.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ragstone.data.readers.rows import FieldError, show
from ragstone.data.readers.traces import payloads
from ragstone.data.readers.traces.span import Kind, Operation, TraceSpan

NAME: Final = "Langfuse"
VERSION: Final = "exports of Langfuse 3 and 4: API v1 and v2, blob storage, UI"
"""The forms that this file was written against; exports carry no version."""
_KINDS: Final[Mapping[str, Kind]] = {
    "SPAN": "system",
    "CHAIN": "system",
    "AGENT": "system",
    "GENERATION": "model",
    "RETRIEVER": "retrieval",
    "EVALUATOR": "evaluation",
}
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LISTS: Final = ("data", "observations")


def records_in(document: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the observations and traces of a list, a page of the API, or the file of one trace."""
    if isinstance(document, list):
        for item in document:
            yield from records_in(item)
    elif not isinstance(document, dict):
        raise FieldError(f"expected a JSON object, found {show(document)}")
    elif isinstance(document.get("trace"), dict):
        yield from records_in({"observations": [], **document["trace"]})
        yield from records_in(document.get("observations") or [])
    else:
        inner = next((name for name in _LISTS if isinstance(document.get(name), list)), "")
        if inner != "data":
            yield {_snake(name): v for name, v in document.items() if name != inner}
        # The API lists the observations of a trace as objects, or as their ids alone.
        items = document[inner] if inner else []
        yield from records_in([item for item in items if isinstance(item, dict)])


def _snake(name: str) -> str:
    return _CAPITAL.sub("_", name).lower().replace(" ", "_")


def langfuse_span(record: Mapping[str, Any]) -> TraceSpan | str:
    """Return an observation or a trace as a span, or the reason why a record is none.

    A trace is the span that contains its observations. It has its own id.

    Raises:
        FieldError: a time or an id has another form.
    """
    if "data_type" in record and "value" in record:
        return "it is a score"
    trace_id = str(record.get("trace_id") or record.get("id") or "")
    if not trace_id or not {"start_time", "timestamp"} & record.keys():
        listed = ", ".join(sorted(record)[:_NAMED]) or "none"
        return f"it is neither a span of OTLP nor an observation of Langfuse (fields: {listed})"
    is_trace = "trace_id" not in record
    parent = "" if is_trace else str(record.get("parent_observation_id") or trace_id)
    start = _nanoseconds(record.get("timestamp" if is_trace else "start_time"))
    end = _nanoseconds(record.get("end_time")) or start
    if is_trace and end == start:
        end += 1000 * (payloads.count(1e6 * (payloads.number(record.get("latency")) or 0)) or 0)
    failed = str(record.get("level")).upper() == "ERROR"
    return TraceSpan(
        trace_id,
        trace_id if is_trace else str(record.get("id") or ""),
        parent,
        start,
        end,
        _operation(record, "system" if is_trace else _kind(record)),
        error=str(record.get("status_message") or "it failed") if failed else "",
        conversation=str(record.get("session_id") or ""),
    )


_NAMED: Final = 8
"""Fields in the reason why a record is not read."""


def _kind(record: Mapping[str, Any]) -> Kind:
    """Return the kind of an observation; a span named after retrieval is one, as in older SDKs."""
    kind = str(record.get("type", "")).upper()
    if kind == "SPAN" and "retriev" in str(record.get("name", "")).lower():
        return "retrieval"
    return _KINDS.get(kind, "other")


def _operation(record: Mapping[str, Any], kind: Kind) -> Operation:
    given, returned = payloads.loaded(record.get("input")), payloads.loaded(record.get("output"))
    query = payloads.query_text(given)
    if kind == "retrieval":
        return Operation(kind, NAME, query, passages=payloads.passages_in(returned))
    answer = payloads.answer_text(returned) if kind in ("system", "model") else ""
    if kind != "model":
        return Operation(kind, NAME, query, answer)
    usage = payloads.loaded(record.get("usage_details") or record.get("usage"))
    counts = usage if isinstance(usage, dict) else {}
    return Operation(
        kind,
        NAME,
        query,
        answer,
        prompt=payloads.all_texts(given),
        tokens_in=payloads.count(counts.get("input", record.get("input_usage"))),
        tokens_out=payloads.count(counts.get("output", record.get("output_usage"))),
        cost=_cost(record),
    )


def _cost(record: Mapping[str, Any]) -> float | None:
    names = ("total_cost", "calculated_total_cost")
    costs = (payloads.number(record.get(name)) for name in names)
    return next((cost for cost in costs if cost is not None), None)


def _nanoseconds(value: Any) -> int:
    """Return a time of ISO 8601 as nanoseconds since 1970; 0 without one. Times are in UTC."""
    if value in (None, ""):
        return 0
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError as error:
        problem = f"expected a time such as 2026-01-31T09:30:00Z, found {show(value)}"
        raise FieldError(problem) from error
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1e6) * 1000
