"""Whatever a field or a byte of a file holds, the result is rows or an error of Ragstone."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from tests.fakes.traced_rag import GenAI, OpenInference, ProtobufFile, TracedRag, recording

from ragstone.data.readers.traces.conversion import TraceConverter
from ragstone.errors import DatasetError, RagstoneError

ODD: Final[list[Any]] = [
    *(None, True, 0, -1, 1e300, 10**18, "", "x", "{", "[1,2", "9" * 400, "2026-13-01", "\x00"),
    *([], {}, [[]], [None], {"a": 1}, {"role": "user"}, [{"role": "user", "content": None}]),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document."""
    yield path
    if not isinstance(value, dict | list):
        return
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from places(item, (*path, name))


def changed(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """Return a document with another value at a path."""
    if not path:
        return other
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], other)
    return copy


def convert(path: Path) -> bool:
    """Return whether a file gave rows; all of them and the summary must be JSON and text."""
    converter = TraceConverter([path])
    with suppress(RagstoneError):
        for row in converter.rows():
            orjson.dumps(row)
        assert str(converter.found)
        orjson.dumps(converter.found.to_dict())
    return converter.found.rows > 0


@pytest.mark.parametrize("convention", [OpenInference, GenAI])
def test_any_value_in_any_place_of_the_json(tmp_path: Path, convention: type[Any]) -> None:
    """Three hundred documents with one or two other values."""
    path, draw = tmp_path / "t.jsonl", random.Random(7)  # noqa: S311 - seeded, no secret
    with recording(path) as tracer:
        TracedRag(tracer, convention()).ask_all(["When ferry 1?", "When ferry 2?"])
    document = orjson.loads(path.read_text().splitlines()[0])
    known = list(places(document))
    gave_rows = []
    for _ in range(300):
        other = document
        for _ in range(draw.randint(1, 2)):
            with suppress(KeyError, IndexError, TypeError, AttributeError):
                other = changed(other, draw.choice(known), draw.choice(ODD))
        path.write_bytes(orjson.dumps(other))
        gave_rows.append(convert(path))
    assert 0 < sum(gave_rows) < 300


def test_any_byte_of_the_protobuf(tmp_path: Path) -> None:
    """Three hundred files with other bytes, and cut."""
    path, draw = tmp_path / "t.pb", random.Random(7)  # noqa: S311 - seeded, no secret
    with recording(ProtobufFile(path, lambda size: size.to_bytes(4, "big"))) as tracer:
        TracedRag(tracer, OpenInference()).ask_all(["When ferry 1?", "When ferry 2?"])
    content = path.read_bytes()
    gave_rows = []
    for _ in range(300):
        other = bytearray(content[: draw.choice([len(content), draw.randrange(1, len(content))])])
        for _ in range(draw.randint(1, 3)):
            other[draw.randrange(len(other))] = draw.randrange(256)
        path.write_bytes(other)
        gave_rows.append(convert(path))
    assert 0 < sum(gave_rows) < 300


def test_a_file_of_zeros_is_refused_at_its_first_byte(tmp_path: Path) -> None:
    """Packed, such a file is small, and to walk through its empty messages would take minutes."""
    packed = tmp_path / "t.pb.gz"
    with gzip.open(packed, "wb") as file:
        file.write(bytes(2**20))
    with pytest.raises(DatasetError, match=r"byte 1: a message of 0 bytes"):
        list(TraceConverter([packed]).rows())


def test_a_field_of_number_0_is_no_protobuf(tmp_path: Path) -> None:
    """It follows a valid message here; without the check it would be walked through as fields."""
    path = tmp_path / "t.pb"
    path.write_bytes(b"\x0a\x00" + bytes(64))
    with pytest.raises(DatasetError, match="a field has the number 0"):
        list(TraceConverter([path]).rows())
