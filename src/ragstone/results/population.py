"""The queries behind each table, and why the others are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults

_NOT_DRAWN: Final = "not in the sample"
_HELD_BACK: Final = "secret"


@dataclass(frozen=True, slots=True)
class TablePopulation:
    """The queries of a table.

    >>> str(TablePopulation(13, 16, {"the query has no gold passage": 3}))
    '13 of 16 queries; left out: 3 (the query has no gold passage)'
    """

    queries: int
    of: int
    """The queries that the table could have."""
    left_out: Mapping[str, int]
    """Reason -> number of queries."""

    def __str__(self) -> str:
        """Return the numbers and the reasons as text."""
        return f"{self.queries:,} of {self.of:,} queries{left_out_suffix(self.left_out)}"


def left_out_suffix(left_out: Mapping[str, int]) -> str:
    """Return `; left out: 3 (reason), 1 (reason)`; "" if no query is left out."""
    listed = ", ".join(f"{count:,} ({reason})" for reason, count in left_out.items() if count)
    return f"; left out: {listed}" if listed else ""


def answered(results: StoredResults) -> TablePopulation:
    """Return the population of the tables of answers."""
    data = results.record.data
    rest = data.queries - data.answered - sum(data.left_out.values())
    secret = data.answered - len(results.queries) if results.held_back else 0
    reasons = _reasons(data.left_out, rest, secret)
    return TablePopulation(data.answered - secret, data.queries, reasons)


def ranked(results: StoredResults) -> TablePopulation:
    """Return the population of the tables of rankings."""
    data = results.record.data
    if data.ranked == data.answered:
        return answered(results)
    rest = data.queries - data.ranked
    secret = data.ranked - len(results.ranked) if results.held_back else 0
    return TablePopulation(data.ranked - secret, data.queries, _reasons({}, rest, secret))


def _reasons(left_out: Mapping[str, int], rest: int, secret: int) -> dict[str, int]:
    more = {_NOT_DRAWN: rest, _HELD_BACK: secret}
    return dict(left_out) | {why: count for why, count in more.items() if count}


def adaptability(results: StoredResults) -> TablePopulation:
    """Return the population of adaptability, gains and suitability, before failed answers."""
    absent = Counter(results.without_gold.values())
    size = len(results.queries)
    return TablePopulation(size - absent.total(), size, dict(absent))


def adaptability_lines(results: StoredResults) -> list[str]:
    """Return a line per row of the table of adaptability that leaves out further queries."""
    usual = adaptability(results).left_out
    rows = [(row, row.adaptability.reasons) for row in results.adaptability]
    return [
        f"{row.system}, {row.setting}{left_out_suffix(reasons)}"
        for row, reasons in rows
        if reasons != usual
    ]


def populations(results: StoredResults) -> dict[str, dict[str, Any]]:
    """Return table -> its population as plain data."""
    return {name: asdict(one) for name, one in table_populations(results).items()}


def table_populations(results: StoredResults) -> dict[str, TablePopulation]:
    """Return table -> its population, for the tables that the results have."""
    found = {
        "leaderboard": answered(results) if results.trials else None,
        "retrieval": ranked(results) if results.rankings else None,
        "adaptability": adaptability(results) if results.adaptability else None,
    }
    return {name: one for name, one in found.items() if one is not None}
