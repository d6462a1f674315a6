"""Files of traces, read span by span; of a file that is cut, the complete part is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import orjson

from ragstone.core import limits
from ragstone.core.parsing import LimitError, parse_json
from ragstone.data.readers.rows import FieldError, has_end, lines, opened, read_bytes, reading
from ragstone.data.readers.table_files import read_table
from ragstone.data.readers.traces.langfuse import langfuse_span, records_in
from ragstone.data.readers.traces.otlp_json import FIELD, json_spans
from ragstone.data.readers.traces.otlp_protobuf import (
    FIRST_BYTE,
    CutMessage,
    protobuf_spans,
    varint,
)
from ragstone.data.readers.traces.span import TraceSpan
from ragstone.errors import DatasetError

_TABLES: Final = (".csv", ".tsv", ".parquet")
_OTHER_SIGNALS: Final = ("resourceLogs", "resourceMetrics")
_KNOWN: Final = "a file of traces is OTLP as JSON or protobuf, or an export of Langfuse"
_HEAD_BYTES: Final = 16
_PREFIX_BYTES: Final = 4
"""Bytes of the length before each message in a file of OpenTelemetry's collector."""
_VARINT_BYTES: Final = 10
"""Bytes of the longest number of protobuf."""
_CONTROL: Final = 9
"""Bytes below this one are in no text."""
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[\]{}]', re.DOTALL)
"""A text, also one that is cut, or a bracket."""
LengthOf: TypeAlias = Callable[[BinaryIO], tuple[int, int] | None]
_CLOSING: Final = {b"{": b"}", b"[": b"]"}


@dataclass
class FileNotes:
    """Parts of files of traces that were not read."""

    cuts: list[str] = field(default_factory=list)
    """File, line or byte of each place from which on a file could not be read."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Reason -> records that are not spans."""


def read_spans(path: Path, notes: FileNotes) -> Iterator[TraceSpan]:
    """Yield the spans of a file: OTLP's JSON or protobuf, or an export of Langfuse.

    Raises:
        DatasetError: the file is none of these, or a span is malformed; with file and line.
        MissingDependency: the file is protobuf, and the extra `traces` is not installed.
    """
    with opened(path) as file:
        head = file.read(_HEAD_BYTES)
    if not head:
        raise DatasetError(f"{path} is empty; {_KNOWN}", path=path)
    if has_end(path, *_TABLES):
        yield from _table_spans(path, notes)
    elif head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") and min(head) >= _CONTROL:
        for place, document in _documents(path, notes):
            with reading(path, place):
                yield from _spans_of(document, notes)
    else:
        yield from _protobuf_spans(path, head, notes)


def _spans_of(document: Any, notes: FileNotes) -> Iterator[TraceSpan]:
    if isinstance(document, dict) and FIELD in document:
        yield from json_spans(document)
        return
    for record in records_in(document):
        found = langfuse_span(record)
        if isinstance(found, TraceSpan):
            yield found
        else:
            other = next((name for name in _OTHER_SIGNALS if name.lower() in _keys(record)), "")
            notes.skipped[f"it contains {other}, not traces" if other else found] += 1


def _keys(record: Any) -> set[str]:
    return {name.replace("_", "") for name in record}


def _table_spans(path: Path, notes: FileNotes) -> Iterator[TraceSpan]:
    """Yield the rows of a table; the rows before an error are read."""
    try:
        for number, row in read_table(path):
            with reading(path, number):
                yield from _spans_of(row, notes)
    except DatasetError as error:
        notes.cuts.append(str(error))


def _documents(path: Path, notes: FileNotes) -> Iterator[tuple[int, Any]]:
    """Yield line number and content of each document: one per line, or one in the whole file."""
    numbered = lines(path)
    number, line = next(numbered, (1, b""))
    is_per_line = _is_json(line)
    if not is_per_line:
        numbered.close()  # type: ignore[attr-defined]  # it is a generator
        yield number, _parsed(path, number, read_bytes(path), notes)
        return
    yield number, _parsed(path, number, line, notes)
    for number, line in numbered:
        yield number, _parsed(path, number, line.rstrip(), notes)


def _is_json(content: bytes) -> bool:
    try:
        orjson.loads(content)
    except orjson.JSONDecodeError:
        return False
    return True


def _parsed(path: Path, number: int, content: bytes, notes: FileNotes) -> Any:
    """Return the content of a document, or its complete part, which is [] if there is none."""
    try:
        return parse_json(content)
    except LimitError as error:
        raise DatasetError(f"{path}, line {number}: {error}", path=path, line=number) from error
    except orjson.JSONDecodeError as error:
        end = _error_at(content, error)
        line = number + content.count(b"\n", 0, end)
        byte = end - content.rfind(b"\n", 0, end)
        notes.cuts.append(
            f"{path}, line {line}, byte {byte}: the JSON ends or breaks off here ({error.msg}); "
            "what is complete before it was read"
        )
        with suppress(ValueError):  # nor can a complete part be too deep
            return parse_json(complete_part(content[:end]))
        return []


def _error_at(content: bytes, error: orjson.JSONDecodeError) -> int:
    """Return the number of bytes before the error; a character that is cut is one too."""
    try:
        content.decode()
    except UnicodeDecodeError as undecodable:
        return undecodable.start
    return len(error.doc[: error.pos].encode())


def complete_part(content: bytes) -> bytes:
    """Return the JSON up to the last complete span or record, with its brackets closed.

    >>> complete_part(b'[{"a": [1]}, {"a": [2]}, {"a": [3')
    b'[{"a": [1]}, {"a": [2]}]'
    """
    is_list = content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    # A span is an object in a list, in an object in a list, in an object in a list, in an object.
    depth = 7 if f'"{FIELD}"'.encode() in content else 2 if is_list else 3
    brackets: list[bytes] = []
    end = 0
    for match in _TOKEN.finditer(content.rstrip(b"\\")):
        token = match[0]
        if token in _CLOSING:
            brackets.append(token)
        elif token in (b"}", b"]") and brackets:
            brackets.pop()
            if token == b"}" and len(brackets) == depth - 1:
                end, still_open = match.end(), brackets.copy()
    if not end:
        return b"[]"
    return content[:end] + b"".join(_CLOSING[one] for one in reversed(still_open))


def _protobuf_spans(path: Path, head: bytes, notes: FileNotes) -> Iterator[TraceSpan]:
    """Yield the spans of one message, or of many with their length before each."""
    if head[:1] == bytes([FIRST_BYTE]):
        messages = iter([(0, read_bytes(path), True)])
    elif head[_PREFIX_BYTES : _PREFIX_BYTES + 1] == bytes([FIRST_BYTE]) and head[0] < _CONTROL:
        messages = _messages(path, _fixed_length)
    else:
        messages = _messages(path, _varint_length)
    for start, message, is_whole in messages:
        try:
            yield from protobuf_spans(memoryview(message))
        except CutMessage:
            notes.cuts.append(_cut(path, start, message))
        except FieldError as error:
            raise DatasetError(f"{path}, byte {start}: {error}; {_KNOWN}", path=path) from error
        else:
            if not is_whole:
                notes.cuts.append(_cut(path, start, message))


def _cut(path: Path, start: int, message: bytes) -> str:
    return (
        f"{path}, byte {start + len(message)}: the file ends within the message that begins at "
        f"byte {start}; what is complete before it was read"
    )


def _messages(path: Path, length_of: LengthOf) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the position and the bytes of each message, and whether it is whole."""
    start = 0
    with opened(path) as file:
        while (found := length_of(file)) is not None:
            size, prefix = found
            start += prefix
            if not 0 < size <= limits.MAX_LINE_BYTES:
                raise DatasetError(
                    f"{path}, byte {start}: a message of {size:,} bytes; messages have between 1 "
                    f"and {limits.MAX_LINE_BYTES:,}; {_KNOWN}",
                    path=path,
                )
            message = file.read(size)
            yield start, message, len(message) == size
            start += size


def _fixed_length(file: BinaryIO) -> tuple[int, int] | None:
    """Return the number before a message and its own length, or None at the end of the file."""
    prefix = file.read(_PREFIX_BYTES)
    size = int.from_bytes(prefix.ljust(_PREFIX_BYTES, b"\1"), "big")
    return (size, len(prefix)) if prefix else None


def _varint_length(file: BinaryIO) -> tuple[int, int] | None:
    """Return the number before a message and its own length, or None at the end of the file."""
    prefix = b""
    while (byte := file.read(1)) and len(prefix) < _VARINT_BYTES:
        prefix += byte
        if byte[0] < 0x80:  # noqa: PLR2004
            return varint(prefix, 0)
    return (limits.MAX_LINE_BYTES + 1, len(prefix)) if prefix else None
