"""People's ratings as JSON lines, one rating of one person per line.

    {"query_id": "q1", "rater": "ann", "property": "cause", "value": "ranking", "system": "bm25",
     "setting": "retrieved(3)"}

`value` is a number or a text; texts are nominal. `system` and `setting` name the answer that is
rated, `against` the other system of a pair (with the value a, b or tie), `passage_id` a passage and
`part` a claim, a nugget or a span. `time` is when it was rated. `shown` says if a suggestion was
shown to the rater: before, after or never. `inclusion_probability` and `round` are those that
`ragstone judge next` wrote. Each rater has one rating per property and item.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ragstone.data.readers.field_names import check_names
from ragstone.data.readers.rows import FieldError, Row, json_rows, reading, show
from ragstone.errors import DatasetError

Shown: TypeAlias = Literal["", "before", "after", "never"]
FIELDS: Final = (
    *("query_id", "rater", "property", "value", "system", "setting"),
    *("against", "passage_id", "part", "time", "shown"),
    *("inclusion_probability", "round"),
)
"""The fields of a rating."""
_SHOWN: Final = ("", "before", "after", "never")
_PAIR: Final = ("a", "b", "tie")


@dataclass(frozen=True, slots=True)
class RatedItem:
    """What is rated: a query, an answer to it, a pair of answers, a passage, or a part of one."""

    query_id: str
    system: str = ""
    setting: str = ""
    against: str = ""
    passage_id: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class HumanRating:
    """What one person said about one item."""

    item: RatedItem
    property: str
    rater: str
    value: float | str
    time: str = ""
    shown: Shown = ""
    line: int = 0
    """The line of the file."""


def read_ratings(path: Path, only: str = "") -> list[HumanRating]:
    """Return the ratings of a file, in order.

    Args:
        path: the file, plain or `.gz`.
        only: only the ratings of this property.

    Raises:
        DatasetError: a malformed line, a second rating of one rater for an item, or no rating;
            it names file, line and value.
    """
    found: dict[tuple[RatedItem, str, str], HumanRating] = {}
    properties: dict[str, None] = {}
    for number, row in json_rows(path):
        with reading(path, number):
            rating = _read(row, number)
            properties[rating.property] = None
            key = (rating.item, rating.property, rating.rater)
            if key in found:
                raise FieldError(
                    f"a second rating by {rating.rater!r} for query {rating.item.query_id!r} "
                    f"(the first is in line {found[key].line}); keep one of the two"
                )
        if only in ("", rating.property):
            found[key] = rating
    if not found:
        has = f"it has {', '.join(map(repr, properties))}" if properties else "it has no line"
        wanted = f"ratings of the property {only!r}" if only else "ratings"
        raise DatasetError(f"{path} has no {wanted}; {has}", path=path)
    return list(found.values())


def _read(row: Row, number: int) -> HumanRating:
    check_names(row, FIELDS)
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
    return HumanRating(item, name, rater, value, _text(row, "time"), shown, number)


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FieldError(f"{name!r} must be a text, found {show(value)}")
    return value
