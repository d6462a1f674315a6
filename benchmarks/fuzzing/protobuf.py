"""Trees of OTLP's JSON as its protobuf."""

from __future__ import annotations

import base64
from typing import Any, Final

_IDS: Final = ("traceId", "spanId", "parentSpanId")


def protobuf(tree: Any) -> bytes:
    """Return the bytes of a TracesData; what protobuf cannot contain is left out."""
    from google.protobuf.json_format import ParseDict, ParseError
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    found = tree.get("resourceSpans") if isinstance(tree, dict) else None
    groups = found if isinstance(found, list) else []
    for start in range(len(groups)):
        message = TracesData()
        try:
            ParseDict(
                _plain({"resourceSpans": groups[start:]}), message, ignore_unknown_fields=True
            )
        except (ParseError, TypeError, ValueError, AttributeError, RecursionError, SystemError):
            continue
        return bytes(message.SerializeToString())
    return b""


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {
                str(key): _id(one) if key in _IDS else _plain(one) for key, one in value.items()
            }
        case list():
            return [_plain(one) for one in value]
        case str():
            return value.encode("utf-8", "replace").decode()
        case int() | float() | bool() | None:
            return value
    return str(value)


def _id(value: Any) -> Any:
    """Return an id of hexadecimal digits as base64; another value as it is."""
    try:
        return base64.b64encode(bytes.fromhex(value)).decode()
    except (TypeError, ValueError):
        return _plain(value)
