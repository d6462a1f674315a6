"""Parquet and Arrow files that end the process of the native reader are errors before it reads."""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from ragstone.core import limits
from ragstone.data.load import load_dataset
from ragstone.data.readers.parquet_columns import ParquetFile, batches
from ragstone.data.readers.parquet_structure import UnsafeParquet, check_structure
from ragstone.errors import DatasetError

DEEP = 100_000


def varint(number: int) -> bytes:
    """Return a number in Thrift's compact form."""
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def table(**options: str | bool) -> bytes:
    """Return a Parquet file of one column with nine equal texts."""
    file = io.BytesIO()
    pq.write_table(pa.table({"a": ["x" * 50] * 9}), file, **options)
    return file.getvalue()


def with_footer(footer: bytes) -> bytes:
    """Return a file of a footer alone."""
    return b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"


def column(name: bytes, children: int) -> bytes:
    """Return a column of a schema."""
    return b"\x48" + bytes([len(name)]) + name + b"\x15" + varint(2 * children) + b"\0"


def columns(*each: bytes) -> bytes:
    """Return a footer up to its row groups."""
    return b"\x15\x02\x19\xfc" + varint(len(each)) + b"".join(each) + b"\x16\0"


def after(content: bytes, mark: bytes, number: int) -> bytes:
    """Return a file with another number behind a mark."""
    start = end = content.index(mark) + len(mark)
    while content[end] & 128:
        end += 1
    return content[:start] + varint(2 * number) + content[end + 1 :]


def zoned() -> bytes:
    """Return a file with a NUL in a time zone, which only Arrow's own schema has."""
    file = io.BytesIO()
    pq.write_table(pa.table({"a": pa.array([1], pa.timestamp("us", "UTC"))}), file)
    content = file.getvalue()
    start = content.index(b"/////", content.index(b"ARROW:schema"))
    end = content.index(b"\0", start)
    size = (end - start) // 4 * 4
    arrow = base64.b64decode(content[start : start + size])
    return content.replace(
        content[start : start + size], base64.b64encode(arrow.replace(b"UTC", b"U\0C"))
    )


UNSAFE: dict[str, tuple[Callable[[], bytes], str]] = {
    "name": (
        lambda: table().replace(b"\x18\x01a", b"\x18\x01\0"),
        "name of a column contains a NUL",
    ),
    "zone": (zoned, "a name or time zone contains a NUL"),
    "nesting": (
        lambda: with_footer(columns(*[column(b"a", 1)] * DEEP, column(b"b", 0))),
        "nested more than 100 levels deep",
    ),
    "unknown structures": (
        lambda: with_footer(columns(column(b"a", 0)) + b"\x3c" + b"\x1c" * DEEP + b"\0" * DEEP),
        "nested too deeply",
    ),
    "columns": (
        lambda: with_footer(b"\x15\x02\x19\xfc\xff\xff\xff\xff\x07"),
        "a list of 2,147,483,647 items is longer than its footer",
    ),
    "row groups": (
        lambda: with_footer(columns(column(b"a", 0)) + b"\x19\xfc\xff\xff\xff\xff\x07"),
        "a list of 2,147,483,647 items",
    ),
    "page": (
        lambda: after(table(compression="snappy"), b"PAR1\x15\x04\x15", 2**31 - 1),
        "has 2,147,483,647 bytes unpacked, more than 16,777,216",
    ),
    "dictionary": (
        lambda: after(table(compression="none"), b"\x4c\x15", 2**31 - 1),
        "has 2,147,483,647 values",
    ),
    "place": (
        lambda: table().replace(b"\x26\x38\x26\x08", b"\x26\x38\x26\x07"),
        "is outside the file",
    ),
    "footer": (lambda: b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1", "more than the file"),
    "end": (lambda: table()[:-1], "does not begin and end with PAR1"),
}


@pytest.mark.parametrize("what", UNSAFE)
def test_a_file_that_would_end_the_process_is_refused(what: str, tmp_path: Path) -> None:
    """The message names the file and what is wrong with it."""
    make, message = UNSAFE[what]
    path = tmp_path / "rows.parquet"
    path.write_bytes(make())
    with pytest.raises(DatasetError, match=rf"rows\.parquet is not a complete .*{message}"):
        load_dataset(path)


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip", "brotli", "lz4"])
def test_a_whole_file_is_read(compression: str, tmp_path: Path) -> None:
    """Nested columns, dates and pages of each kind are no reason to refuse a file."""
    path = tmp_path / "rows.parquet"
    values = {
        "when": pa.array([1, 2] * 3000, pa.timestamp("us", "UTC")),
        "nested": [{"a": [{"b": "c"}]}, None] * 3000,
        "text": [f"Text {n % 70}" for n in range(6000)],
    }
    for version in ("1.0", "2.0"):
        pq.write_table(
            pa.table(values), path, compression=compression, data_page_version=version,
            row_group_size=2500, data_page_size=1000,
        )  # fmt: skip
        read = sum(
            batch.num_rows for _, batch in batches(ParquetFile("x", lambda: path.open("rb")))
        )
        assert read == 6000


def test_a_page_may_be_small_if_it_is_unpacked_to_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal values are packed well: the ratio counts only for large pages."""
    file = io.BytesIO()
    pq.write_table(pa.table({"a": ["x" * 10_000] * 100}), file, use_dictionary=False)
    check_structure(file)
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 1000)
    monkeypatch.setattr(limits, "MAX_UNPACKED_RATIO", 2)
    with pytest.raises(UnsafeParquet, match="bytes unpacked, more than"):
        check_structure(file)
    monkeypatch.setattr(limits, "MAX_CHECKED_PAGES", 0)
    check_structure(file)


def test_an_arrow_file_with_a_nul_in_a_name_is_refused(tmp_path: Path) -> None:
    """The reader of Arrow's streams has the same end."""
    path = tmp_path / "rows.arrow"
    values = pa.table({"question": ["Who?"], "n\0": ["Ada"]})
    with pyarrow.ipc.new_stream(path, values.schema) as stream:
        stream.write_table(values)
    with pytest.raises(DatasetError, match=r"rows\.arrow is not a complete .* contains a NUL"):
        load_dataset(path)
