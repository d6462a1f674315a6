"""Answers in JSON lines by query, read from the file again for each block of queries.

    index = AnswerIndex(path)
    for block in blocks:                    # lists of query ids, in any order
        answers = index.read(block)         # query id -> prediction of those that have one

The index takes 24 bytes an answer. It is for files without a flaw: whatever is wrong or unusual
ends it with `NotPlain`, and `answer_lines.read_answers` then finds the line and the reason.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import orjson

from ragstone.core import limits
from ragstone.core.regular_files import open_regular
from ragstone.data.readers.answer_lines import SCORED, read_answer
from ragstone.data.readers.field_names import check_names
from ragstone.data.readers.rows import FieldError, json_object, opened

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.types import Prediction

    Ints = npt.NDArray[np.int64]

_BOM: Final = b"\xef\xbb\xbf"
_PLAIN: Final = frozenset({"query_id", "answer"})


class NotPlain(Exception):
    """A file is not read by blocks: it has a flaw, or a form that needs all rows."""


class AnswerIndex:
    """The places of the answers in a file of JSON lines.

    Raises:
        NotPlain: the file is compressed, a line is malformed, or a query has two answers.
        DatasetError: the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix == ".gz":
            raise NotPlain
        self._path = path
        codes, places, sizes = array("q"), array("q"), array("q")
        for query_id, place, size in _lines(path):
            codes.append(hash(query_id))
            places.append(place)
            sizes.append(size)
        found = np.frombuffer(codes, np.int64) if codes else np.zeros(0, np.int64)
        order = np.argsort(found, kind="stable")
        self._codes = found[order]
        if not len(order) or (self._codes[1:] == self._codes[:-1]).any():
            raise NotPlain
        self._places = np.frombuffer(places, np.int64)[order]
        self._sizes = np.frombuffer(sizes, np.int64)[order]
        self._met = np.zeros(len(order), np.bool_)

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self._codes)

    def read(self, query_ids: Sequence[str]) -> dict[str, Prediction]:
        """Return the answers of some queries; raise `NotPlain` if a line is malformed."""
        wanted = np.fromiter(map(hash, query_ids), np.int64, len(query_ids))
        at = np.minimum(np.searchsorted(self._codes, wanted), len(self) - 1)
        at = at[self._codes[at] == wanted]
        self._met[at] = True
        return {one.query_id: one for one in self._answers(at)}

    def others(self) -> list[str]:
        """Return the queries of the answers that were not read yet, in the order of the file."""
        left = np.flatnonzero(~self._met)
        left = left[np.argsort(self._places[left])]
        return [one.query_id for one in self._answers(left)]

    def _answers(self, at: Ints) -> Iterator[Prediction]:
        """Yield the answers at some positions of the index."""
        places, sizes = self._places[at], self._sizes[at]
        with open_regular(self._path, 0) as file:  # a buffer would be filled for each line
            for start, stop in pairwise(_bounds(places, sizes)):
                file.seek(int(places[start]))
                content, done = file.read(int(sizes[start:stop].sum())), 0
                for size in sizes[start:stop].tolist():
                    yield _answer(content[done : done + size])
                    done += size


def _lines(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the query, the place and the size of each line."""
    place, maximum = 0, limits.MAX_LINE_BYTES
    with opened(path) as file:
        if file.read(len(_BOM)) == _BOM:
            raise NotPlain
        file.seek(0)
        for line in iter(partial(file.readline, maximum + 1), b""):
            if len(line) > maximum:
                raise NotPlain
            if not line.isspace():
                yield _query_id(line), place, len(line)
            place += len(line)


def _query_id(line: bytes) -> str:
    try:
        found = orjson.loads(line)["query_id"]
    except (ValueError, KeyError, TypeError) as error:
        raise NotPlain from error
    if type(found) is not str:
        raise NotPlain
    return found


def _bounds(places: Ints, sizes: Ints) -> list[int]:
    """Return where runs of neighbouring lines begin, and the number of lines.

    A run has few bytes, so that a block with a long answer stays bounded.
    """
    ends = places + sizes
    apart = np.flatnonzero(places[1:] != ends[:-1]) + 1
    parts = np.flatnonzero(np.diff(np.cumsum(sizes) // limits.SCORED_CHARACTERS)) + 1
    bounds: list[int] = np.union1d([0, len(places)], [*apart, *parts]).astype(np.int64).tolist()
    return bounds


def _answer(line: bytes) -> Prediction:
    try:
        row = json_object(line)
        if row.keys() != _PLAIN:
            check_names(row, SCORED)
        return read_answer(row)[1]
    except FieldError as error:
        raise NotPlain from error
