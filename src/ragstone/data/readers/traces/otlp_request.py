"""A request of OTLP over HTTP, split into spans that are kept one by one.

A span without valid ids cannot be kept: it would be mixed with others. It is rejected, and the
other spans of the request are kept, as https://opentelemetry.io/docs/specs/otlp/ asks for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from ragstone.core import limits
from ragstone.core.parsing import LimitError, parse_json
from ragstone.data.readers.rows import FieldError
from ragstone.data.readers.traces.otlp_json import FIELD, json_spans, objects
from ragstone.data.readers.traces.received import Form, KeptSpan, SpanGroup

_TRACE_BYTES: Final = 16
_SPAN_BYTES: Final = 8
_HEX: Final = re.compile(r"[0-9a-fA-F]*")


@dataclass
class SplitRequest:
    """The spans of a request, and those that cannot be kept."""

    kept: list[KeptSpan] = field(default_factory=list)
    rejected: int = 0
    reason: str = ""
    """Why the first of the rejected spans cannot be kept."""

    def reject(self, reason: str) -> None:
        """Count a span that cannot be kept."""
        self.rejected += 1
        self.reason = self.reason or reason

    def keep(self, ids: tuple[str, str], group: SpanGroup, content: bytes) -> None:
        """Keep a span.

        Raises:
            FieldError: the request has too many spans.
        """
        if len(self.kept) >= limits.MAX_TRACE_SPANS:
            raise FieldError(
                f"the request has more than {limits.MAX_TRACE_SPANS:,} spans, the maximum; "
                "export smaller batches (OTEL_BSP_MAX_EXPORT_BATCH_SIZE)"
            )
        self.kept.append(KeptSpan(*ids, group, content))


def split_protobuf(body: bytes) -> SplitRequest:
    """Split an ExportTraceServiceRequest as protobuf; the extra `traces` is needed.

    Raises:
        FieldError: the bytes are not such a message, or it has too many spans.
    """
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise FieldError(f"the body is not OTLP's protobuf ({error})") from error
    found = SplitRequest()
    for part in request.resource_spans:
        for scope in part.scope_spans:
            alone = ResourceSpans(resource=part.resource, schema_url=part.schema_url)
            alone.scope_spans.add(scope=scope.scope, schema_url=scope.schema_url)
            group = _group("protobuf", alone.SerializeToString())
            for span in scope.spans:
                ids = span.trace_id.hex(), span.span_id.hex()
                if problem := _problem(*ids):
                    found.reject(problem)
                else:
                    found.keep(ids, group, span.SerializeToString())
    return found


def split_json(body: bytes) -> SplitRequest:
    """Split an ExportTraceServiceRequest as JSON.

    Raises:
        FieldError: the bytes are not such a document, or it has too many spans.
    """
    try:
        document = parse_json(body)
    except (orjson.JSONDecodeError, LimitError) as error:
        raise FieldError(f"the body is not JSON of OTLP ({error})") from error
    if not isinstance(document, dict) or FIELD not in document:
        raise FieldError(f"the body is not JSON of OTLP: it has no field {FIELD!r}")
    found = SplitRequest()
    for part in objects(document, FIELD):
        for scope in objects(part, "scopeSpans"):
            shared = {**part, "scopeSpans": [{**scope, "spans": []}]}
            list(json_spans({FIELD: [shared]}))  # The resource is readable.
            group = _group("json", orjson.dumps(shared))
            _keep_json(objects(scope, "spans"), group, found)
    return found


def _keep_json(spans: list[Mapping[str, Any]], group: SpanGroup, found: SplitRequest) -> None:
    for span in spans:
        ids = str(span.get("traceId") or "").lower(), str(span.get("spanId") or "").lower()
        if problem := _problem(*ids):
            found.reject(problem)
            continue
        named = {**span, "traceId": ids[0], "spanId": ids[1]}
        try:
            list(json_spans({FIELD: [{"scopeSpans": [{"spans": [named]}]}]}))
        except FieldError as error:
            found.reject(str(error))
            continue
        found.keep(ids, group, orjson.dumps(named))


def _group(form: Form, content: bytes) -> SpanGroup:
    return SpanGroup(hashlib.sha256(form.encode() + content).hexdigest(), form, content)


def _problem(trace_id: str, span_id: str) -> str:
    """Return why the ids of a span are not valid, or ""."""
    for name, value, size in (
        ("trace", trace_id, _TRACE_BYTES),
        ("span", span_id, _SPAN_BYTES),
    ):
        if len(value) != 2 * size or not _HEX.fullmatch(value) or not value.strip("0"):
            return f"a span needs a {name} id of {size} bytes that are not all 0"
    return ""


SPLITTERS: Final[Mapping[str, Callable[[bytes], SplitRequest]]] = {
    "application/x-protobuf": split_protobuf,
    "application/json": split_json,
}
"""Content type of a request -> how its body is split."""
