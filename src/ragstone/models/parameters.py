"""Facts of a model in the metadata of its files, such as its size: no weights are read."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import BinaryIO, Final

from ragstone.core import limits

_FIXED: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Type of a GGUF value -> its size in bytes."""
_STRING, _ARRAY = 8, 9
_PACKED: Final = {"I8", "U8", "I16", "I32", "U32", "I64"}
"""Types of safetensors that may pack several quantised parameters in a number."""
UNREADABLE: Final = (
    *(OSError, ValueError, struct.error, LookupError),
    *(TypeError, AttributeError, RecursionError),
)
"""Errors of a file whose header is not that of a file of weights."""


def parameter_count(path: Path) -> int | None:
    """Return the sum of the sizes of all tensors of a GGUF file or of a folder of safetensors.

    None if it cannot be computed: another format, a damaged file, or packed quantised tensors.
    """
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path]
    counts = []
    for file in files:
        try:
            with file.open("rb") as opened:
                read = _gguf if file.suffix.lower() == ".gguf" else _safetensors
                counts.append(read(opened))
        except UNREADABLE:
            return None
    known = [count for count in counts if count]
    return sum(known) if counts and len(known) == len(counts) else None


def is_whole(path: Path) -> bool:
    """Return whether a file of safetensors has all the bytes that its header names."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            _check(length)
            header = json.loads(file.read(length))
        ends = (one["data_offsets"][1] for name, one in header.items() if name != "__metadata__")
        return path.stat().st_size == 8 + int(length) + int(max(ends, default=0))
    except UNREADABLE:
        return False


def gguf_text(path: Path, key: str) -> str:
    """Return a text in the metadata of a GGUF file; "" if there is none."""
    try:
        with path.open("rb") as file:
            magic, _, _, values = struct.unpack("<4sIQQ", file.read(24))
            for _ in range(values if magic == b"GGUF" else 0):
                name = _read_text(file)
                kind = _number(file, "<I")
                if name == key and kind == _STRING:
                    return _read_text(file)
                _skip(file, kind)
    except (OSError, ValueError, struct.error, KeyError):
        pass
    return ""


def _safetensors(file: BinaryIO) -> int | None:
    (length,) = struct.unpack("<Q", file.read(8))
    _check(length)
    header = json.loads(file.read(length))
    tensors = [one for name, one in header.items() if name != "__metadata__"]
    if any(one["dtype"] in _PACKED for one in tensors):
        return None
    return sum(int(math.prod(one["shape"])) for one in tensors)


def _gguf(file: BinaryIO) -> int:
    magic, version, tensors, values = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF" or version < 2:  # noqa: PLR2004 - version 1 has other lengths
        raise ValueError("not a GGUF file of version 2 or 3")
    _check(tensors)
    _check(values)
    for _ in range(values):
        _text(file)
        _skip(file, _number(file, "<I"))
    total = 0
    for _ in range(tensors):
        _text(file)
        dimensions = _number(file, "<I")
        _check(8 * dimensions)
        total += math.prod(struct.unpack(f"<{dimensions}Q", file.read(8 * dimensions)))
        file.seek(12, 1)
    return total


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        _text(file)
    elif kind == _ARRAY:
        inner, count = struct.unpack("<IQ", file.read(12))
        _check(count)
        if inner in _FIXED:
            file.seek(_FIXED[inner] * count, 1)
        else:
            for _ in range(count):
                _skip(file, inner)
    else:
        file.seek(_FIXED[kind], 1)


def _text(file: BinaryIO) -> None:
    length = _number(file, "<Q")
    _check(length)
    file.seek(length, 1)


def _read_text(file: BinaryIO) -> str:
    length = _number(file, "<Q")
    _check(length)
    return file.read(length).decode("utf-8", "replace")


def _number(file: BinaryIO, form: str) -> int:
    (found,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return int(found)


def _check(length: int) -> None:
    if length > limits.MODEL_HEADER_BYTES:
        raise ValueError("the header is too long")
