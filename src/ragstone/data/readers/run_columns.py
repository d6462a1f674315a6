"""Runs and qrels read by columns: their ids stay bytes of the file, and become texts on demand.

Only plain files are read so: ASCII, one blank or tab between two fields, no empty line, each
passage once in a ranking. For any other file, and for every error message, the line readers of
`trec` read the file again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

import numpy as np

from ragstone.core import limits
from ragstone.core.byte_codes import MIX, WORD, byte_codes, later_bytes, mixed, same_bytes
from ragstone.core.decimals import decimals
from ragstone.data.readers.qrels import JudgementParser, grade_of
from ragstone.data.readers.rows import FieldError, opened, read_bytes
from ragstone.data.readers.trec import read_qrels, read_run
from ragstone.errors import DatasetError
from ragstone.types import Ranking

if TYPE_CHECKING:
    from io import BufferedReader

    import numpy.typing as npt

    from ragstone.core.byte_codes import Codes, Flags, Ints, Text

    Values = npt.NDArray[np.float64]

T = TypeVar("T")
_BLOCK_BYTES: Final = 1 << 20
"""Bytes of lines that are cut at once: their arrays fit into the processor's cache."""
_TAB, _BREAK, _BLANK = b"\t\n "
_BEHIND: Final = b"\n" + bytes(2 * WORD)
"""What is put behind a file: the break of its last line, and bytes that may be read with its last
field."""
_RUN_WIDTH: Final = 6


class _NotPlain(ValueError):
    """The line reader has to read the file."""


class _Fields(NamedTuple):
    """One field of each line: its start in the file, and its size."""

    starts: Ints
    sizes: Ints


@dataclass(frozen=True)
class Lines:
    """The lines of a file, sorted by query; within a query they keep their order."""

    text: Text
    """The file, with `_BEHIND` behind it."""
    query_ids: Mapping[str, int]
    """Query id -> its number, by first appearance."""
    query: Ints
    """The number of the query of each line."""
    passages: _Fields
    keys: Codes
    """A code of query id and passage id per line; different pairs hardly ever have the same one."""
    numbers: Values | Ints
    """Score or grade."""

    @cached_property
    def counts(self) -> Ints:
        """Number of lines per query."""
        return np.bincount(self.query, minlength=len(self.query_ids))

    @cached_property
    def starts(self) -> Ints:
        """First line of each query."""
        return np.cumsum(self.counts) - self.counts

    def passage_ids(self, query_id: str) -> list[str]:
        """Return the passages of a query, in the order of the lines."""
        lines = self.lines_of(query_id)
        part = slice(lines.start, lines.stop)
        starts, sizes = (side[part].tolist() for side in self.passages)
        return [self.text[a : a + n].decode() for a, n in zip(starts, sizes, strict=True)]

    def lines_of(self, query_id: str) -> range:
        """Return the lines of a query; raise `KeyError` if it has none."""
        number = self.query_ids[query_id]
        start = int(self.starts[number])
        return range(start, start + int(self.counts[number]))

    def same_passages(self, ours: Ints, other: Lines, theirs: Ints) -> Flags:
        """Return whether lines of this file and of another one have the same passage id."""
        sizes = self.passages.sizes[ours]
        same: Flags = sizes == other.passages.sizes[theirs]
        starts = self.passages.starts[ours], other.passages.starts[theirs]
        same &= same_bytes(self.text, starts[0], other.text, starts[1], sizes)
        return same

    def later_passages(self, lines: Ints, others: Ints) -> Flags:
        """Return whether the passage ids of lines are greater than those of other lines."""
        starts, sizes = self.passages
        return later_bytes(
            self.text, (starts[lines], sizes[lines]), (starts[others], sizes[others])
        )


class _Columns(Mapping[str, T]):
    """Query id -> something made of the query's lines."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines

    def __iter__(self) -> Iterator[str]:
        """Yield the query ids by first appearance."""
        return iter(self.lines.query_ids)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.lines.query_ids)

    def __contains__(self, query_id: object) -> bool:
        """Return whether the file has a query."""
        return query_id in self.lines.query_ids


class RunColumns(_Columns[Ranking]):
    """Query id -> ranking of a run."""

    def __getitem__(self, query_id: str) -> Ranking:
        """Return a ranking, as `read_run` does."""
        held = self.lines.lines_of(query_id)
        scores = self.lines.numbers[held.start : held.stop].tolist()
        found = sorted(zip(scores, self.lines.passage_ids(query_id), strict=True), reverse=True)
        return Ranking([passage_id for _, passage_id in found], [score for score, _ in found])


class QrelColumns(_Columns[Mapping[str, int]]):
    """Query id -> passage id -> grade of qrels."""

    def __getitem__(self, query_id: str) -> dict[str, int]:
        """Return the grades of a query, as `read_qrels` does."""
        held = self.lines.lines_of(query_id)
        grades = self.lines.numbers[held.start : held.stop].tolist()
        return dict(zip(self.lines.passage_ids(query_id), grades, strict=True))

    def with_relevant(self) -> list[str]:
        """Return the queries with a passage of grade 1 or more."""
        found = np.zeros(len(self), np.bool_)
        found[self.lines.query[self.lines.numbers > 0]] = True
        return list(compress(self, found.tolist()))


def run_columns(path: Path) -> Mapping[str, Ranking]:
    """Return what `read_run` returns, as columns if the file is plain; the same errors."""
    try:
        text = _plain_text(path)
        return RunColumns(_read(text, 0, _RUN_WIDTH, (0, 2, 4), _scores))
    except (_NotPlain, DatasetError):
        return read_run(path)


def qrel_columns(path: Path) -> Mapping[str, Mapping[str, int]]:
    """Return what `read_qrels` returns, as columns if the file is plain; the same errors."""
    try:
        text = _plain_text(path)
        _refuse_mixture(text)
        first = text[: text.index(b"\n") + 1]
        parse = JudgementParser()
        start = 0 if parse(bytes(first)) else len(first)
        columns = (0, parse.width - 2, parse.width - 1)
        found = _read(text, start, parse.width, columns, _grades)
    except (_NotPlain, FieldError, DatasetError):
        return read_qrels(path)
    return QrelColumns(found)


def _refuse_mixture(text: Text) -> None:
    """Raise `_NotPlain` for tabs and blanks: in qrels, a line with tabs has no other separators."""
    if b"\t" in text and b" " in text:
        raise _NotPlain


def _plain_text(path: Path) -> Text:
    """Return a file that is plain as far as this is quickly seen, with `_BEHIND` behind it."""
    text = read_bytes(path, _BEHIND) if path.suffix == ".gz" else _in_one_piece(path)
    if len(text) == len(_BEHIND) or not text.isascii():
        raise _NotPlain
    return text


def _in_one_piece(path: Path) -> bytearray:
    """Return a file and `_BEHIND`, without a second copy of it in memory."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limits.MAX_DOCUMENT_BYTES:
            raise _NotPlain
        text = bytearray(size + len(_BEHIND))
        found = cast("BufferedReader", file).readinto(memoryview(text)[:size])
        if found < size or file.read(1):  # somebody writes the file
            raise _NotPlain
    text[size:] = _BEHIND
    return text


def _read(
    text: Text,
    start: int,
    width: int,
    chosen: tuple[int, int, int],
    numbers: Callable[[Text, _Fields], Values | Ints],
) -> Lines:
    """Return the lines from a position on, given the columns of query, passage and number."""
    known: dict[str, int] = {}
    end = len(text) - len(_BEHIND)
    end += text[end - 1] != _BREAK  # the last line may have none of its own
    parts = []
    while start < end:
        stop = text.index(b"\n", min(start + _BLOCK_BYTES, end) - 1) + 1
        queries, passages, values = _cut(text, start, stop, width, chosen)
        parts.append((*_coded(text, queries, passages, known), *passages, numbers(text, values)))
        start = stop
    if not parts:
        raise _NotPlain
    query, keys, starts, sizes, found = map(np.concatenate, zip(*parts, strict=True))
    in_order = np.sort(keys)
    if (in_order[1:] == in_order[:-1]).any():  # a passage is listed twice, or looks so
        raise _NotPlain
    if (query[1:] < query[:-1]).any():
        order = np.argsort(query, kind="stable")
        query, keys, found = query[order], keys[order], found[order]
        starts, sizes = starts[order], sizes[order]
    return Lines(text, known, query, _Fields(starts, sizes), keys, found)


def _cut(text: Text, start: int, stop: int, width: int, chosen: tuple[int, ...]) -> list[_Fields]:
    """Return some fields of the lines between two positions; all lines have `width` fields."""
    if stop - start > 2 * _BLOCK_BYTES:
        raise _NotPlain
    block = np.frombuffer(text, np.uint8, stop - start, start)
    gaps = block <= _BLANK
    places = np.flatnonzero(gaps)
    if len(places) % width or gaps[0] or (gaps[1:] & gaps[:-1]).any():
        raise _NotPlain
    ends = places.reshape(-1, width)
    breaks, *blanks = (np.count_nonzero(block == byte) for byte in (_BREAK, _BLANK, _TAB))
    at_the_end = (block[ends[:, -1]] == _BREAK).all()
    if not at_the_end or breaks != len(ends) or breaks + sum(blanks) != len(places):
        raise _NotPlain
    found = []
    for column in chosen:
        begins = (ends[:, column - 1] if column else np.append(-1, ends[:-1, -1])) + 1
        found.append(_Fields(begins + start, ends[:, column] - begins))
    return found


def _coded(
    text: Text, queries: _Fields, passages: _Fields, known: dict[str, int]
) -> tuple[Ints, Codes]:
    """Return query number and key of each line; new query ids are added to `known`."""
    starts, sizes = queries
    codes = byte_codes(text, starts, sizes)
    new = np.ones(len(starts), np.bool_)
    new[1:] = codes[1:] != codes[:-1]
    if sizes.max() > WORD:  # different ids may have one code
        new[1:] |= sizes[1:] != sizes[:-1]
        new[1:] |= ~same_bytes(text, starts[1:], text, starts[:-1], sizes[1:])
    heads = np.flatnonzero(new)
    ends = (starts + sizes)[heads].tolist()
    ids = [text[a:b].decode() for a, b in zip(starts[heads].tolist(), ends, strict=True)]
    numbers = np.array([known.setdefault(query_id, len(known)) for query_id in ids])
    # Like ids differ in few bytes; codes that are not mixed would often cancel out.
    keys = (byte_codes(text, *passages) ^ mixed(codes)) * MIX
    return np.repeat(numbers, np.diff(heads, append=len(starts))), keys


def _scores(text: Text, fields: _Fields) -> Values:
    try:
        found = decimals(text, *fields)
    except ValueError as error:
        raise _NotPlain from error
    if not np.isfinite(found).all():
        raise _NotPlain
    return found


def _grades(text: Text, fields: _Fields) -> Ints:
    if fields.sizes.max() > WORD:
        raise _NotPlain
    _, first, which = np.unique(byte_codes(text, *fields), return_index=True, return_inverse=True)
    starts, sizes = fields.starts[first].tolist(), fields.sizes[first].tolist()
    try:
        parts = [text[a : a + size].decode() for a, size in zip(starts, sizes, strict=True)]
        known = [grade_of(part) for part in parts]
    except ValueError as error:
        raise _NotPlain from error
    return np.array(known)[which]
