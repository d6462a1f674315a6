"""The structure of a Parquet file, checked before the native reader, which some files abort.

A name with a NUL, columns nested so deeply that they overflow its stack, a column at a negative
place, a list that is longer than the file and a page of gigabytes are errors here: there, the
process ends without an exception. The footer and the heads of pages are in Thrift's compact
protocol.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedReader, BytesIO
from itertools import islice
from typing import BinaryIO, Final, NamedTuple, TypeAlias

from ragstone.core import limits

_MARK: Final = b"PAR1"
_TAIL: Final = 8
"""Bytes of the length of the footer and the mark."""
_SCHEMA, _GROUPS = 2, 4
"""Fields of the footer."""
_COLUMNS, _FACTS, _PACKED, _DATA, _DICTIONARY = 1, 3, 7, 9, 11
"""Fields of a group of rows, of a chunk of a column, and of its facts."""
_PAGE_SIZE, _PAGE_PACKED, _PAGE_DICTIONARY, _PAGE_ITEMS = 2, 3, 7, -1
"""Fields of the head of a page, and where the number of a dictionary's values is put."""
_WINDOWS: Final = (2**9, 2**13, 2**20, 2**26)
"""Bytes that are read for the head of a page, which is usually short."""
_NAME, _CHILDREN = 4, 5
"""Fields of a column."""
_BOOLEANS, _BYTE, _INTEGERS, _DOUBLE, _TEXT, _LISTS, _MAP, _STRUCT = (
    *((1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 11, 12),
)
_LONG: Final = 15
"""Size in the header of a list that is written behind it."""
_ARROW: Final = re.compile(rb"ARROW:schema(?:\x18|\x08\x04)")
"""Key of Arrow's own types, and the header of their value."""
_TIMESTAMP: Final = 10
"""Arrow's types with a time zone."""


_Integers: TypeAlias = Mapping[int, int]


class UnsafeParquet(ValueError):
    """A file that must not be given to the native reader, with the reason."""


class _Page(NamedTuple):
    """The facts in the head of a page."""

    size: int
    """Bytes of the page, unpacked."""
    packed: int
    items: int
    """Values of a dictionary; 0 for another page."""


def check_structure(file: BinaryIO) -> None:
    """Raise `UnsafeParquet` unless a Parquet file can be read without an end of the process.

    The pages of a file elsewhere, which is read in blocks, are not checked: that would fetch it.
    """
    size = file.seek(0, 2)
    file.seek(0)
    marked = size >= len(_MARK) + _TAIL and file.read(len(_MARK)) == _MARK
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    if not marked or tail[4:] != _MARK:
        raise UnsafeParquet("it does not begin and end with PAR1")
    length = int.from_bytes(tail[:4], "little")
    if length > size - _TAIL - len(_MARK):
        raise UnsafeParquet(f"its footer has {length:,} bytes, more than the file")
    file.seek(size - _TAIL - length)
    footer = file.read(length)
    try:
        chunks = list(_Thrift(footer).chunks())
        for found in _ARROW.finditer(footer):
            check_schema(base64.b64decode(_Thrift(footer, found.end()).text()))
    except (IndexError, struct.error, binascii.Error) as error:
        raise UnsafeParquet("its footer is cut") from error
    for chunk in chunks:
        _check_place(chunk, size)
    if isinstance(file, BufferedReader | BytesIO):
        for page in islice(_pages(file, chunks), limits.MAX_CHECKED_PAGES):
            _check_page(page)
    file.seek(0)


def _check_place(chunk: _Integers, size: int) -> None:
    """Raise `UnsafeParquet` unless a chunk of a column is within a file of this size."""
    data, dictionary, length = (chunk.get(field, 0) for field in (_DATA, _DICTIONARY, _PACKED))
    if min(data, dictionary, length) < 0 or (dictionary or data) + length > size:
        raise UnsafeParquet("a column is outside the file")


def _pages(file: BinaryIO, chunks: Sequence[_Integers]) -> Iterator[_Page]:
    """Yield the head of each page; a chunk of a column is a row of pages."""
    for chunk in chunks:
        place = chunk.get(_DICTIONARY) or chunk.get(_DATA, 0)
        end = place + chunk.get(_PACKED, 0)
        while 0 < place < end:
            head, size = _head(file, place)
            yield _Page(
                head.get(_PAGE_SIZE, 0), head.get(_PAGE_PACKED, 0), head.get(_PAGE_ITEMS, 0)
            )
            place += size + max(0, head.get(_PAGE_PACKED, 0))


def _head(file: BinaryIO, place: int) -> tuple[_Integers, int]:
    """Return the integers in the head of a page, and its size; its statistics may be long."""
    for window in _WINDOWS:
        file.seek(place)
        found = _Thrift(file.read(window))
        try:
            return found.integers({_PAGE_DICTIONARY: _PAGE_ITEMS}), found.place
        except IndexError:
            continue
    raise UnsafeParquet(f"the head of the page at byte {place:,} is cut")


def _check_page(page: _Page) -> None:
    most = max(limits.UNPACKED_BYTES, limits.MAX_UNPACKED_RATIO * page.packed)
    if not 0 <= page.size <= most:
        raise UnsafeParquet(
            f"a page of {page.packed:,} bytes has {page.size:,} bytes unpacked, more than {most:,}"
        )
    if page.items > page.size:
        raise UnsafeParquet(f"a page of {page.size:,} bytes has {page.items:,} values")


class _Thrift:
    """Reads a structure from a position on; an `IndexError` is the end of the bytes."""

    def __init__(self, content: bytes, place: int = 0) -> None:
        self.content, self.place = content, place

    def chunks(self) -> Iterator[_Integers]:
        """Check the columns and the sizes of all lists; yield the integers of each chunk."""
        for field, kind in self._fields():
            if field == _SCHEMA and kind in _LISTS:
                self._check_columns()
            elif field == _GROUPS and kind in _LISTS:
                for _ in range(self._list()[1]):
                    yield from self._group()
            else:
                self._skip(kind, 0)

    def _group(self) -> Iterator[_Integers]:
        for field, kind in self._fields():
            if field == _COLUMNS and kind in _LISTS:
                for _ in range(self._list()[1]):
                    yield from self._chunk()
            else:
                self._skip(kind, 0)

    def _chunk(self) -> Iterator[_Integers]:
        for field, kind in self._fields():
            if field == _FACTS and kind == _STRUCT:
                yield self.integers({})
            else:
                self._skip(kind, 0)

    def integers(self, inner: Mapping[int, int]) -> _Integers:
        """Return field -> integer; `inner` names fields of structures whose first integer counts.

        Its values are the numbers that these integers get.
        """
        found: dict[int, int] = {}
        for field, kind in self._fields():
            if kind in _INTEGERS:
                found[field] = self._signed()
            elif kind == _STRUCT and field in inner:
                found[inner[field]] = self.integers({}).get(1, 0)
            else:
                self._skip(kind, 0)
        return found

    def text(self) -> bytes:
        """Return a text."""
        size = self._number()
        found = self.content[self.place : self.place + size]
        if len(found) < size:
            raise IndexError
        self.place += size
        return found

    def _check_columns(self) -> None:
        _, size = self._list()
        open_: list[int] = []
        """Columns that are still to come, per level."""
        for _ in range(size):
            name, children = b"", 0
            for field, kind in self._fields():
                if field == _NAME and kind == _TEXT:
                    name = self.text()
                elif field == _CHILDREN and kind in _INTEGERS:
                    children = self._signed()
                else:
                    self._skip(kind, 0)
            if b"\0" in name:
                raise UnsafeParquet(f"the name of a column contains a NUL: {name[:60]!r}")
            while open_ and not open_[-1]:
                open_.pop()
            if open_:
                open_[-1] -= 1
            open_.append(children)
            if len(open_) > limits.MAX_NESTING_LEVELS:
                raise UnsafeParquet(
                    f"its columns are nested more than {limits.MAX_NESTING_LEVELS} levels deep"
                )

    def _fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind of each field of a structure; the caller reads its value."""
        field = 0
        while head := self._byte():
            if head >> 4:
                field += head >> 4
            else:
                field = self._signed()
            yield field, head & 15

    def _signed(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)

    def _skip(self, kind: int, level: int) -> None:  # noqa: C901 - a case per type
        if level > limits.MAX_NESTING_LEVELS:
            raise UnsafeParquet("its footer is nested too deeply")
        if kind in _INTEGERS:
            self._number()
        elif kind == _TEXT:
            self.text()
        elif kind == _STRUCT:
            for _, inner in self._fields():
                self._skip(inner, level + 1)
        elif kind in _LISTS:
            inner, size = self._list()
            for _ in range(size):
                self._item(inner, level)
        elif kind in (_BYTE, _DOUBLE):
            self.place += 1 if kind == _BYTE else 8
        elif kind == _MAP:
            if size := self._number():
                kinds = self._byte()
                for _ in range(self._bounded(size)):
                    self._item(kinds >> 4, level)
                    self._item(kinds & 15, level)
        elif kind not in _BOOLEANS:
            raise UnsafeParquet(f"its footer has a value of the unknown type {kind}")

    def _item(self, kind: int, level: int) -> None:
        """Skip an item of a list, where a boolean is a byte."""
        if kind in _BOOLEANS:
            self._byte()
        else:
            self._skip(kind, level + 1)

    def _list(self) -> tuple[int, int]:
        """Return kind and number of the items of a list."""
        head = self._byte()
        size = head >> 4
        return head & 15, self._bounded(self._number() if size == _LONG else size)

    def _bounded(self, size: int) -> int:
        if size > len(self.content) - self.place:
            raise UnsafeParquet(f"a list of {size:,} items is longer than its footer")
        return size

    def _byte(self) -> int:
        found = self.content[self.place]
        self.place += 1
        return found

    def _number(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 0x80:
            found |= (byte & 0x7F) << shift
            shift += 7
        return found | byte << shift


def check_stream(file: BinaryIO) -> None:
    """Raise `UnsafeParquet` unless the schema of an Arrow stream can be read safely."""
    head = file.read(8)
    size = int.from_bytes(head[4:], "little")
    try:
        check_schema(head + file.read(min(size, limits.MAX_DOCUMENT_BYTES)))
    except (IndexError, struct.error) as error:
        raise UnsafeParquet("its schema is cut") from error
    file.seek(0)


def check_schema(message: bytes) -> None:
    """Raise `UnsafeParquet` if a name or a time zone of Arrow's own schema contains a NUL."""
    table = _Flat(message)
    start = 8 if table.content[:4] == b"\xff\xff\xff\xff" else 4
    schema = table.child(start + table.offset(start), 2)
    todo = table.children(schema, 1) if schema else []
    for field in todo:
        if len(todo) > len(table.content):
            raise UnsafeParquet("its Arrow schema refers to itself")
        todo += table.children(field, 5)
        kind = table.child(field, 3)
        zoned = kind and table.byte(field, 2) == _TIMESTAMP
        for place in (table.child(field, 0), table.child(kind, 1) if zoned else 0):
            if place and b"\0" in (name := table.text(place)):
                raise UnsafeParquet(f"a name or time zone contains a NUL: {name[:60]!r}")


class _Flat:
    """The tables of a FlatBuffer, by their positions."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def offset(self, place: int) -> int:
        """Return a number of four bytes."""
        return int(struct.unpack_from("<I", self.content, place)[0])

    def _field(self, table: int, number: int) -> int:
        """Return the position of a field of a table, or 0."""
        names = table - int(struct.unpack_from("<i", self.content, table)[0])
        size = struct.unpack_from("<H", self.content, names)[0]
        at = 4 + 2 * number
        held = struct.unpack_from("<H", self.content, names + at)[0] if at < size else 0
        return table + held if held else 0

    def child(self, table: int, number: int) -> int:
        """Return the position of a table or text within a table, or 0."""
        place = self._field(table, number)
        return place + self.offset(place) if place else 0

    def text(self, place: int) -> bytes:
        """Return the text at a position."""
        return self.content[place + 4 : place + 4 + self.offset(place)]

    def byte(self, table: int, number: int) -> int:
        """Return a field of one byte, or 0."""
        place = self._field(table, number)
        return self.content[place] if place else 0

    def children(self, table: int, number: int) -> list[int]:
        """Return the positions of the tables in a list."""
        place = self.child(table, number)
        count = self.offset(place) if place else 0
        if count > len(self.content):
            raise UnsafeParquet("a list of its Arrow schema is longer than the schema")
        places = range(place + 4, place + 4 + 4 * count, 4)
        return [one + self.offset(one) for one in places]
