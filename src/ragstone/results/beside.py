"""Figures of all answers together, such as the macro-F1 of `label`, which are not means of scores.

The step that scores answers computes them and stores them in its manifest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.results.reader import StoredResults

_TITLES: Final = {"macro_f1": "macro-F1", "corpus": "all answers together"}
"""Figure -> its title, if it is not the figure itself."""


@dataclass(frozen=True)
class FigureTable:
    """Systems under settings x figures."""

    columns: tuple[tuple[str, str], ...]
    """(metric, figure)."""
    rows: tuple[tuple[str, str, Mapping[tuple[str, str], float]], ...]
    """(system, setting, column -> value)."""

    @property
    def titles(self) -> list[str]:
        """The titles of the columns."""
        return [f"{metric}: {_TITLES.get(key, key)}" for metric, key in self.columns]


def figure_table(results: StoredResults) -> FigureTable | None:
    """Return all figures; None if no metric has one."""
    rows = [
        (system, setting, {(m, key): v for m, held in found.items() for key, v in held.items()})
        for (system, setting), found in results.beside.items()
        if found
    ]
    columns = dict.fromkeys(column for *_, values in rows for column in values)
    return FigureTable(tuple(columns), tuple(rows)) if rows else None


def with_figures(results: StoredResults, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of `leaderboard` with the key `beside` if the row's metric has such figures."""
    found = []
    for row in rows:
        figures = results.beside.get((row["system"], row["setting"]), {}).get(row["metric"])
        found.append(row | ({"beside": figures} if figures else {}))
    return found
