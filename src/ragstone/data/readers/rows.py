"""Files of data sets, read line by line; errors contain the file, the line and the value."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import orjson

from ragstone.core import limits
from ragstone.core.parsing import LimitError, parse_json
from ragstone.core.regular_files import NotRegular, is_there, open_regular
from ragstone.core.schemas import labels_to_json
from ragstone.errors import DatasetError

T = TypeVar("T")

_BOM: Final = b"\xef\xbb\xbf"
BREAKS: Final = frozenset("\t\r\n")
"""Characters that an id must not contain: they separate the lines and columns of qrels and runs."""
_PART_BYTES: Final = 1 << 18
"""Bytes per read; larger parts are not faster."""


class FieldError(ValueError):
    """A field of one row is missing or of the wrong type; the reader adds file and line."""


def show(value: object) -> str:
    """Return the repr of a value for an error message, shortened if it is long.

    >>> show("Lisbon")
    "'Lisbon'"
    """
    text = repr(value)
    maximum = limits.MAX_VALUE_CHARACTERS
    return text if len(text) <= maximum else f"{text[:maximum]}..."


def find_file(folder: Path, *names: str) -> Path | None:
    """Return the file with one of these names, plain or `.gz`, or None if there is none.

    Raises `DatasetError` if there are several.
    """
    candidates = [folder / (name + tail) for name in names for tail in ("", ".gz")]
    found = [path for path in candidates if is_there(path)]
    if len(found) > 1:
        both = " and ".join(path.name for path in found)
        raise DatasetError(f"{folder} contains {both}, and only one is read; keep one of them")
    return found[0] if found else None


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Yield a plain or `.gz` file for reading bytes; raise `DatasetError` if it is unreadable."""
    is_gzip = path.suffix == ".gz"
    try:
        with open_regular(path, _PART_BYTES) as file:
            yield io.BufferedReader(_Unpacked(file, path), _PART_BYTES) if is_gzip else file
    except FileNotFoundError as error:
        raise DatasetError(f"{path}: no such file", path=path) from error
    except NotRegular as error:
        raise DatasetError(f"{path} cannot be read: {error}", path=path) from error
    except (OSError, EOFError, zlib.error) as error:
        problem = "is not a complete gzip file" if is_gzip else "cannot be read"
        raise DatasetError(f"{path} {problem}: {error}; write or copy the file again") from error


class _Unpacked(io.RawIOBase):
    """The content of a gzip file; a small file must not fill the memory."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path, self._size = file, path, 0
        self._gzip = gzip.open(file)  # noqa: SIM115 - it needs no end of its own

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, and return the number of bytes."""
        read = self._gzip.readinto(buffer)
        self._size += read
        most = max(limits.UNPACKED_BYTES, limits.MAX_UNPACKED_RATIO * self._file.tell())
        if self._size > most:
            raise DatasetError(
                f"{self._path} is unpacked to more than {limits.MAX_UNPACKED_RATIO} times its "
                "size, as no text is; if that is right, unpack it and read the plain file",
                path=self._path,
            )
        return read


def read_bytes(path: Path, behind: bytes = b"") -> bytes:
    """Return all bytes of a plain or `.gz` file, without a byte order mark, and others behind."""
    parts, size = [], 0
    with opened(path) as file:
        while part := file.read(_PART_BYTES):
            parts.append(part)
            size += len(part)
            if size > limits.MAX_DOCUMENT_BYTES:
                raise DatasetError(
                    f"{path} has more than {limits.MAX_DOCUMENT_BYTES:,} bytes, the maximum of "
                    f"a file that is read as a whole; split it, or convert it to JSON lines"
                )
    return without_marks(b"".join([*parts, behind]))


def without_marks(content: bytes) -> bytes:
    """Return the start of a file without byte order marks; tools that join files add several."""
    while content.startswith(_BOM):
        content = content[len(_BOM) :]
    return content


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield line number (from 1) and bytes of each line that is not blank."""
    maximum = limits.MAX_LINE_BYTES
    with opened(path) as file:
        for number, line in enumerate(iter(partial(file.readline, maximum + 1), b""), start=1):
            if len(line) > maximum:
                raise DatasetError(
                    f"{path}, line {number}: longer than {maximum:,} bytes, the maximum of a "
                    f"line; write one row per line, and cut long documents into passages"
                )
            if not line.isspace():
                yield number, without_marks(line) if number == 1 else line


def parsed(path: Path, parse: Callable[[bytes], T]) -> Iterator[tuple[int, T]]:
    """Yield line number and `parse(line)` of each line; its `FieldError` gets file and line."""
    for number, line in lines(path):
        try:
            found = parse(line)
        except FieldError as error:
            raise row_error(path, number, error) from error
        yield number, found


def decoded(line: bytes) -> str:
    """Return a line as text without its line break; raise `FieldError` if it is not UTF-8."""
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise FieldError(
            f"not UTF-8 at byte {error.start + 1} of the line (0x{line[error.start]:02x}, "
            f"{error.reason}); save the file as UTF-8, for example with iconv -f LATIN1 -t UTF-8"
        ) from error


def has_end(path: Path, *ends: str) -> bool:
    """Return whether the name of a file, without `.gz`, has one of some ends in any case.

    >>> has_end(Path("Rows.CSV.gz"), ".csv", ".tsv")
    True
    """
    return path.name.lower().removesuffix(".gz").endswith(ends)


def json_object(line: bytes) -> Row:
    """Return the JSON object in a line; raise `FieldError` if there is none."""
    try:
        row = parse_json(line)
    except LimitError as error:
        raise FieldError(str(error)) from error
    except orjson.JSONDecodeError as error:
        raise FieldError(
            f"not valid JSON ({error.msg} at column {error.colno}), found "
            f"{show(decoded(line).strip())}; each line must be one JSON object"
        ) from error
    if type(row) is not dict:
        raise FieldError(
            f"expected a JSON object, found {show(row)}; "
            f'each line must be one object such as {{"_id": "1", "text": "..."}}'
        )
    return Row(row)


def json_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the number and the object of each line of a JSON lines file."""
    return parsed(path, json_object)


def table_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the number and the fields of each line: a JSON object, or id and text of a `.tsv`."""
    return parsed(path, table_row(path))


def table_row(path: Path) -> Callable[[bytes], Row]:
    """Return the function that parses a line of such a file."""
    return _id_and_text if has_end(path, ".tsv") else json_object


def _id_and_text(line: bytes) -> Row:
    row_id, tab, text = decoded(line).partition("\t")
    if not tab:
        raise FieldError(f"expected an id, a tab and a text, found {show(row_id)}")
    return Row(_id=row_id, text=text)


def json_document(path: Path) -> Any:
    """Return the content of a JSON file."""
    content = read_bytes(path)
    try:
        return parse_json(content)
    except LimitError as error:
        raise DatasetError(f"{path}: {error}") from error
    except orjson.JSONDecodeError as error:
        for number, line in enumerate(content.split(b"\n"), start=1):
            with reading(path, number):
                decoded(line)
        raise DatasetError(
            f"{path}, line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); "
            f"correct the file or get it again"
        ) from error


class Row(dict[str, Any]):
    """The fields of one row; a `take` method removes a field and returns its checked value."""

    @classmethod
    def of(cls, value: object) -> Row:
        """Return a JSON object as a row; raise `FieldError` if the value is another one."""
        if not isinstance(value, Mapping):
            raise FieldError(f"expected a JSON object, found {show(value)}")
        return cls(value)

    def take_text(self, name: str, *, optional: bool = False) -> str:
        """Return a text field, or "" if it is optional and absent or null."""
        value = self.pop(name, None)
        if type(value) is str:
            return value
        if value is None and optional:
            return ""
        if value is None:
            others = listed([*map(show, self)]) or "none"
            raise FieldError(f"the field {name!r} is missing; the other fields are {others}")
        quoted = f'; write it as "{value}"' if type(value) in (int, float) else ""
        raise FieldError(f"the field {name!r} must be text, found {show(value)}{quoted}")

    def take_id(self, name: str = "_id") -> str:
        """Return an id: not empty, without tabs and line breaks."""
        value = self.take_text(name)
        if not value.strip() or (not value.isprintable() and BREAKS.intersection(value)):
            raise FieldError(
                f"the field {name!r} must be text on one line, without tabs and not empty, "
                f"found {show(value)}"
            )
        return value

    def take_question(self, name: str) -> str:
        """Return the text of a query; raise `FieldError` if it is empty."""
        text = self.take_text(name)
        if not text.strip():
            raise FieldError(
                f"the field {name!r} is empty, found {show(text)}; a query needs a text"
            )
        return text

    def take_texts(self, name: str) -> list[str] | None:
        """Return a list of texts, or one text as a list; None if it is absent or null."""
        value = self.pop(name, None)
        if value is None or type(value) is str:
            return value if value is None else [value]
        if type(value) is not list:
            raise FieldError(f"the field {name!r} must be a list of texts, found {show(value)}")
        for item in value:
            if type(item) is not str:
                raise FieldError(f"the field {name!r} must contain texts only, found {show(item)}")
        return value

    def take_list(self, name: str, *, optional: bool = False) -> list[Any]:
        """Return a list, or [] if it is optional and absent or null."""
        value = self.pop(name, None)
        if type(value) is list:
            return value
        if value is None and optional:
            return []
        raise FieldError(f"the field {name!r} must be a list, found {show(value)}")

    def take_labels(self) -> str:
        r"""Return the remaining fields as labels in JSON.

        Values of the types in `ragstone.types.Label` stay as they are. An object `metadata`
        (BEIR's) is flattened, a null is left out, and any other value becomes its JSON as text.

        >>> row = Row(domain="law", metadata={"year": 1999, "ref": {"a": 1}}, note=None)
        >>> row.take_labels()
        '{"domain":"law","ref":"{\\"a\\":1}","year":1999}'
        """
        inner = self.pop("metadata", None)
        if type(inner) is dict:
            inner = {(f"metadata.{k}" if k in self else k): v for k, v in inner.items()}
        elif inner is not None:
            inner = {"metadata": inner}
        labels = {**(inner or {}), **self}
        return labels_to_json({name: _label(v) for name, v in labels.items() if v is not None})


def _label(value: Any) -> Any:
    if type(value) is list and all(type(item) is str for item in value):
        return value
    if type(value) in (list, dict):
        return orjson.dumps(value).decode()
    return value


def row_error(
    source: Path | str, place: int | str, error: FieldError, line: int | None = None
) -> DatasetError:
    """Return the error of a row, with the file and the line or another place."""
    number = place if isinstance(place, int) else line
    named = f"line {place}" if isinstance(place, int) else place
    path = source if isinstance(source, Path) else None
    return DatasetError(f"{source}, {named}: {error}", path=path, line=number)


@contextmanager
def reading(path: Path, place: int | str) -> Iterator[None]:
    """Add file and place to a `FieldError` in the block."""
    try:
        yield
    except FieldError as error:
        raise row_error(path, place, error) from error


@contextmanager
def within(place: str) -> Iterator[None]:
    """Add a place, such as "turn 3", to a `FieldError` in the block."""
    try:
        yield
    except FieldError as error:
        raise FieldError(f"{place}: {error}") from error


class Ids(dict[str, str]):
    """Id -> its place, so that an error about a repeated id names the first place."""

    def __init__(self, noun: str = "query") -> None:
        super().__init__()
        self.noun = noun

    def add(self, row_id: str, place: str) -> None:
        """Add an id; raise `FieldError` if it was added before."""
        if row_id in self:
            raise FieldError(
                f"the {self.noun} id {show(row_id)} occurs in {self[row_id]} already; "
                f"give each {self.noun} its own id"
            )
        self[row_id] = place


def listed(values: Sequence[str], limit: int = limits.MAX_LISTED_VALUES) -> str:
    """Return the first texts of a list, and the number of the others.

    >>> listed(["'a'", "'b'", "'c'"], limit=2)
    "'a', 'b' and 1 more"
    """
    head = ", ".join(values[:limit])
    return head if len(values) <= limit else f"{head} and {len(values) - limit:,} more"


def listed_names(names: Iterable[str]) -> str:
    """Return the names of columns for an error message; "none" if there are none.

    >>> listed_names(["query", "x" * 70])
    'query, xxxxxxxxxxxxxxxxxxxxxxxx'
    """
    shown = [name[: limits.MAX_NAME_CHARACTERS] for name in names]
    return listed(shown, limits.MAX_LISTED_FILES) or "none"
