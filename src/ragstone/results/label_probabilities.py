"""How the labelled answers of a file were drawn: probabilities that `ragstone judge next` wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.data.readers.rows import FieldError, has_end, json_rows, reading, show

_OTHER_FORMS: Final = (".json", ".csv", ".tsv", ".xlsx", ".parquet")


@dataclass(frozen=True, slots=True)
class Inclusion:
    """How an answer came to be labelled."""

    probability: float
    """Of the draw, given the answers that were labelled before."""
    round: int = 1
    """The number of the draw, from 1."""


def read_inclusions(path: Path) -> dict[tuple[str, str], dict[str, Inclusion]]:
    """Return (system, setting) -> query id -> inclusion, of the lines that have a probability.

    The fields are `inclusion_probability`, above 0 and at most 1, and `round`, from 1.

    Files of other forms than JSON lines have none. Raises `DatasetError` for other values.
    """
    if has_end(path, *_OTHER_FORMS):
        return {}
    found: dict[tuple[str, str], dict[str, Inclusion]] = {}
    for number, row in json_rows(path):
        with reading(path, number):
            value, draw = row.get("inclusion_probability"), row.get("round", 1)
            if value is None:
                continue
            if type(value) not in (int, float) or not 0 < value <= 1:
                raise FieldError(
                    f"'inclusion_probability' must be above 0 and at most 1, found {show(value)}"
                )
            if type(draw) is not int or draw < 1:
                raise FieldError(f"'round' must be a whole number from 1, found {show(draw)}")
            names = (row.take_text(name) for name in ("query_id", "system", "setting"))
            query_id, system, setting = names
            found.setdefault((system, setting), {})[query_id] = Inclusion(float(value), draw)
    return found
