"""Numbers of parameters from the headers of model files."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from ragstone.core import limits
from ragstone.models.parameters import parameter_count


def text(value: str) -> bytes:
    """Return a string of a GGUF file."""
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(tensors: dict[str, tuple[int, ...]]) -> bytes:
    """Return the header of a GGUF file with a number and a list of texts before the tensors."""
    values = text("size") + struct.pack("<II", 4, 7)
    values += text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")
    found = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), 2) + values
    for name, shape in tensors.items():
        found += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, 0)
    return found


def safetensors(kind: str) -> bytes:
    """Return the header of a file with 6 and 5 numbers."""
    shapes = {"a": [2, 3], "b": [5]}
    header = {n: {"dtype": kind, "shape": s, "data_offsets": [0, 0]} for n, s in shapes.items()}
    written = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    return struct.pack("<Q", len(written)) + written


def test_tensors_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GGUF: 2 x 3 + 5; two files of a folder are added; what does not tell is None."""
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf({"a": (2, 3), "b": (5,)}))
    assert parameter_count(file) == 11
    for name in ("m-1.safetensors", "m-2.safetensors"):
        (tmp_path / name).write_bytes(safetensors("BF16"))
    assert parameter_count(tmp_path) == 22
    (tmp_path / "m-2.safetensors").write_bytes(safetensors("I32"))
    assert parameter_count(tmp_path) is None
    file.write_bytes(gguf({"a": (2, 3)})[:-30])
    assert parameter_count(file) is None
    file.write_bytes(b"")
    assert parameter_count(file) is None
    file.write_bytes(gguf({"a": (2, 3)}))
    monkeypatch.setattr(limits, "MODEL_HEADER_BYTES", 1)
    assert parameter_count(file) is None
