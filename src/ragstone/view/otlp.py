"""A receiver of OTLP over HTTP: spans are kept on the disk before they are acknowledged.

    OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:8321 python my_app.py

Responses are those of https://opentelemetry.io/docs/specs/otlp/#otlphttp: an exporter sends a
request again after 429, 502, 503 and 504, and gives it up after any other error.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import orjson
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage

from ragstone.core import limits
from ragstone.core.environment import require
from ragstone.data.readers.rows import FieldError
from ragstone.data.readers.traces.otlp_request import SPLITTERS, SplitRequest
from ragstone.data.readers.traces.received import ReceivedSpans
from ragstone.errors import MissingDependency, StoreError

PATH: Final = "/v1/traces"
_OTHER_SIGNALS: Final = {
    "/v1/logs": "OTEL_LOGS_EXPORTER=none",
    "/v1/metrics": "OTEL_METRICS_EXPORTER=none",
}
_PROTOBUF: Final = "application/x-protobuf"
_JSON: Final = "application/json"
_ENCODINGS: Final = ("", "identity", "gzip", "deflate")
_RETRY_SECONDS: Final = "5"
_TRY_AGAIN: Final = 503


class _Refused(Exception):
    """The request is answered with an error."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class OtlpReceiver:
    """Receives spans of OTLP over HTTP.

    Args:
        received: where the spans are kept.
    """

    def __init__(self, received: ReceivedSpans) -> None:
        self.received = received
        self._writer = ThreadPoolExecutor(1, "otlp")
        self._places = asyncio.Semaphore(limits.OTLP_CONCURRENT_REQUESTS)

    def add_to(self, app: web.Application) -> None:
        """Add the routes of the receiver to an application."""
        app.router.add_post(PATH, self.receive)
        for path in _OTHER_SIGNALS:
            app.router.add_post(path, self.refuse_signal)
        app.on_cleanup.append(self._close)

    async def _close(self, _: web.Application) -> None:
        self._writer.shutdown()
        self.received.close()

    async def receive(self, request: web.Request) -> web.Response:
        """Keep the spans of a request, then acknowledge them."""
        kind = _PROTOBUF if request.content_type == _PROTOBUF else _JSON
        try:
            _check_kind(request)
            async with self._places:
                body = await _body(request)
                loop = asyncio.get_running_loop()
                split = await loop.run_in_executor(self._writer, self._keep, kind, body)
        except _Refused as refused:
            return _error(kind, refused.status, refused.reason)
        except MissingDependency as error:
            way_out = "or let the application send JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json"
            return _error(kind, 415, f"{error}; {way_out}")
        except FieldError as error:
            return _error(kind, 400, str(error))
        except StoreError as error:
            return _error(kind, _TRY_AGAIN, str(error))
        return web.Response(body=_acknowledged(kind, split), content_type=kind)

    def _keep(self, kind: str, body: bytes) -> SplitRequest:
        split = SPLITTERS[kind](body)
        if split.kept:
            self.received.add(split.kept)
        return split

    async def refuse_signal(self, request: web.Request) -> web.Response:
        """Answer a request of logs or metrics."""
        kind = _PROTOBUF if request.content_type == _PROTOBUF else _JSON
        told = (
            f"this receiver takes traces only ({PATH}); set {_OTHER_SIGNALS[request.path]} in the "
            "application"
        )
        return _error(kind, 404, told)


def _check_kind(request: web.Request) -> None:
    if request.content_type not in SPLITTERS:
        known = " and ".join(SPLITTERS)
        told = f"the content type is {request.content_type!r}; this receiver takes {known}"
        raise _Refused(415, told)
    if request.content_type == _PROTOBUF:
        require("OTLP as protobuf", "traces", "opentelemetry", "opentelemetry.proto")


async def _body(request: web.Request) -> bytes:
    """Return the body of a request, unpacked."""
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise _Refused(415, f"the content encoding {encoding!r} is not known; use gzip or none")
    parts, size = list[bytes](), 0
    try:
        async with asyncio.timeout(limits.OTLP_REQUEST_SECONDS):
            async for part in request.content.iter_any():
                size += len(part)
                if size > limits.MAX_OTLP_BYTES:
                    raise _Refused(
                        413,
                        f"the request has more than {limits.MAX_OTLP_BYTES:,} bytes, the maximum; "
                        "export smaller batches (OTEL_BSP_MAX_EXPORT_BATCH_SIZE)",
                    )
                parts.append(part)
    except TimeoutError as error:
        told = f"the request did not arrive within {limits.OTLP_REQUEST_SECONDS:g} seconds"
        raise _Refused(_TRY_AGAIN, told) from error
    except (BadHttpMessage, web.RequestPayloadError) as error:
        raise _Refused(400, f"the body is not {encoding or 'readable'}: {error}") from error
    return b"".join(parts)


def _acknowledged(kind: str, split: SplitRequest) -> bytes:
    """Return an ExportTraceServiceResponse with the number of rejected spans."""
    if kind == _JSON:
        partial = {"rejectedSpans": str(split.rejected), "errorMessage": split.reason}
        return orjson.dumps({"partialSuccess": partial} if split.rejected else {})
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTracePartialSuccess,
        ExportTraceServiceResponse,
    )

    response = ExportTraceServiceResponse()
    if split.rejected:
        response.partial_success.CopyFrom(
            ExportTracePartialSuccess(rejected_spans=split.rejected, error_message=split.reason)
        )
    return bytes(response.SerializeToString())


def _error(kind: str, status: int, reason: str) -> web.Response:
    """Return a `google.rpc.Status` with a message, in the form of the request."""
    headers = {"Retry-After": _RETRY_SECONDS} if status == _TRY_AGAIN else {}
    body = _status(reason) if kind == _PROTOBUF else orjson.dumps({"message": reason})
    return web.Response(status=status, body=body, content_type=kind, headers=headers)


def _status(message: str) -> bytes:
    r"""Return a Status as protobuf: its second field is the message.

    >>> _status("no")
    b'\x12\x02no'
    """
    content = message.encode()
    size, left = bytearray(), len(content)
    while left >= 0x80:  # noqa: PLR2004 - seven bits per byte
        size.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes((0x12, *size, left)) + content
