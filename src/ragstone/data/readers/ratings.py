"""People's ratings as JSON lines, one rating of one person per line.

    {"query_id": "q1", "rater": "ann", "property": "cause", "value": "ranking", "system": "bm25",
     "setting": "retrieved(3)"}

`value` is a number or a text; texts are nominal. `system` and `setting` name the answer that is
rated, `against` the other system of a pair (with the value a, b or tie), `passage_id` a passage and
`part` a claim, a nugget or a span. `time` is when it was rated. `shown` is before, after or never:
if a suggestion was shown to the rater. `inclusion_probability` and `round` are those that
`ragstone judge next` wrote. Each rater has one rating per property and item.

Labels for the calibration of a judge may leave out `rater` and `property` (the short form). They
are the values of one rater, from 0 to 1.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ragstone.data.readers.field_names import check_names
from ragstone.data.readers.rows import FieldError, Row, json_rows, reading, show
from ragstone.errors import DatasetError

_LOG: Final = logging.getLogger(__name__)
Shown: TypeAlias = Literal["", "before", "after", "never"]
FIELDS: Final = (
    *("query_id", "rater", "property", "value", "system", "setting"),
    *("against", "passage_id", "part", "time", "shown"),
    *("inclusion_probability", "round"),
)
"""The fields of a rating."""
_SHOWN: Final = ("", "before", "after", "never")
_PAIR: Final = ("a", "b", "tie")
SHORT: Final = "label"
"""The property of the short form, whose rater is "people"."""
_NAMED: Final = ("rater", "property")


@dataclass(frozen=True, slots=True)
class RatedItem:
    """The rated item: a query, an answer to it, a pair of answers, a passage, or a part of one."""

    query_id: str
    system: str = ""
    setting: str = ""
    against: str = ""
    passage_id: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class Inclusion:
    """How an answer came to be labelled."""

    probability: float
    """The probability of the draw, given the answers that were labelled before."""
    round: int = 1
    """The number of the draw, from 1."""


@dataclass(frozen=True, slots=True)
class HumanRating:
    """The rating of one item by one person."""

    item: RatedItem
    property: str
    rater: str
    value: float | str
    time: str = ""
    shown: Shown = ""
    line: int = 0
    """The line of the file; 0 in files of other forms."""
    path: Path | None = field(default=None, compare=False, repr=False)
    inclusion: Inclusion | None = None
    """None for the answers of a random sample."""

    def where(self) -> str:
        """Return the file with the line, or with the query and the system."""
        of = f" of {show(self.item.system)}" if self.item.system else ""
        place = f"line {self.line}" if self.line else f"query {show(self.item.query_id)}{of}"
        return f"{self.path or 'ratings'}, {place}"

    def error(self, problem: str) -> DatasetError:
        """Return the error of a rating, with its file and line."""
        return DatasetError(f"{self.where()}: {problem}", path=self.path, line=self.line or None)


def read_ratings(path: Path, only: str = "", *, short: bool = False) -> list[HumanRating]:
    """Return the ratings of a file, in order.

    Lines of `ragstone judge next` that are not filled in are left out with a note.

    Args:
        path: the file, plain or `.gz`.
        only: only the ratings of this property.
        short: whether lines may have the short form.

    Raises:
        DatasetError: a malformed line, a second rating of one rater for an item, or no rating;
            it names file, line and value.
    """
    found: list[HumanRating] = []
    empty: list[int] = []
    for number, row in json_rows(path):
        if _is_unfilled(row):
            empty.append(number)
            continue
        with reading(path, number):
            found.append(_read(path, row, number, short=short))
    if empty and not found:
        problem = f"{path}, line {empty[0]}: no line is filled in; fill in 'value' and 'rater'"
        raise DatasetError(problem, path=path, line=empty[0])
    if empty:
        _LOG.warning(
            "note: lines of %s without a value, which are left out: %s of %s; corrections assume "
            "that these answers do not differ from the others",
            *(path, f"{len(empty):,}", f"{len(empty) + len(found):,}"),
        )
    check_unique(found)
    chosen = [one for one in found if only in ("", one.property)]
    if not chosen:
        properties = dict.fromkeys(one.property for one in found)
        has = f"it has {', '.join(map(repr, properties))}" if properties else "it has no line"
        wanted = f"ratings of the property {only!r}" if only else "ratings"
        raise DatasetError(f"{path} has no {wanted}; {has}", path=path)
    return chosen


def _is_unfilled(row: Row) -> bool:
    """Return whether a line is as `ragstone judge next` wrote it: without a value and a rater."""
    return "inclusion_probability" in row and not any(
        row.get(name) not in ("", None) for name in ("value", "rater")
    )


def check_unique(ratings: Iterable[HumanRating]) -> None:
    """Raise `DatasetError` if a rater has two ratings of one property for an item."""
    found: dict[tuple[RatedItem, str, str], HumanRating] = {}
    for one in ratings:
        before = found.setdefault((one.item, one.property, one.rater), one)
        if before is not one:
            by = f"a second rating of {show(one.property)} by {show(one.rater)}"
            raise one.error(
                f"{by} for query {show(one.item.query_id)}; the first is in {before.where()}; "
                "keep one "
                "of the two"
            )


def _read(path: Path, row: Row, number: int, *, short: bool) -> HumanRating:
    check_names(row, FIELDS)
    if short and not row.keys() & set(_NAMED):
        _check_short(row)
        row |= {"rater": "people", "property": SHORT}
    item = RatedItem(
        row.take_text("query_id"),
        *(_text(row, name) for name in ("system", "setting", "against", "passage_id", "part")),
    )
    value = row.get("value")
    if type(value) is bool or not isinstance(value, int | float | str) or value == "":
        raise FieldError(f"'value' must be a number or a text, found {show(value)}")
    if item.against and value not in _PAIR:
        raise FieldError(f"the value of a pair must be a, b or tie, found {show(value)}")
    shown: Any = _text(row, "shown")
    if shown not in _SHOWN:
        raise FieldError(f"'shown' must be before, after or never, found {show(shown)}")
    rater, name = row.take_text("rater"), row.take_text("property")
    return HumanRating(
        *(item, name, rater, value, _text(row, "time"), shown, number, path), read_inclusion(row)
    )


def read_inclusion(row: Row) -> Inclusion | None:
    """Return how the answer was drawn; None without a probability."""
    value, draw = row.get("inclusion_probability"), row.get("round", 1)
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 < value <= 1:
        raise FieldError(
            f"'inclusion_probability' must be above 0 and at most 1, found {show(value)}"
        )
    if type(draw) is not int or draw < 1:
        raise FieldError(f"'round' must be a whole number from 1, found {show(draw)}")
    return Inclusion(float(value), draw)


def _check_short(row: Row) -> None:
    """Raise `FieldError` unless a line without rater and property is a label of an answer."""
    value = row.get("value")
    for name in ("system", "setting"):
        Row(row).take_text(name)
    if type(value) is bool or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise FieldError(
            f"'value' must be from 0 to 1, found {show(value)}; ratings on another scale have the "
            "fields 'rater' and 'property'"
        )


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FieldError(f"{name!r} must be a text, found {show(value)}")
    return value
