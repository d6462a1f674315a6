"""The tables over many experiments in Python: leaderboard, effects and sensitivity.

The sources are those of the commands: folders of stores, experiment files, `campaign.yaml#DATA`,
and results in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ragstone.experiment.joined_sources import read_joined
from ragstone.results.board.label_mix import LabelMix, parse_mix, read_mix
from ragstone.results.board.leaderboard import Leaderboard
from ragstone.results.board.table import BoardRequest, make_board
from ragstone.results.crossed.effects import EffectsReport, make_effects
from ragstone.results.crossed.scores import CrossedScores, ScoreSelection, crossed_scores
from ragstone.results.crossed.sensitivity import SensitivityReport, make_sensitivity
from ragstone.results.joined import JoinedResults
from ragstone.results.reader import StoredResults

Source: TypeAlias = str | Path | StoredResults
Sources: TypeAlias = Source | Sequence[Source]
Names: TypeAlias = str | Sequence[str]
"""One name, or several."""


def leaderboard(
    sources: Sources = (),
    *,
    rows: Names = (),
    columns: Names = ("setting",),
    metric: Names = (),
    where: Mapping[str, Names] | None = None,
    total: Names = (),
    label_mix: str = "",
    label_mix_from: str | Path = "",
    **options: Any,
) -> Leaderboard:
    """Return the table of `ragstone leaderboard` (docs/leaderboard.md).

    Args:
        sources: stores, experiment files and results; by default the store `.ragstone`.
        rows: axes of the rows; by default data and system.
        columns: axes of the columns.
        metric: metrics or values; by default the headline.
        where: axis -> the values that are shown, such as `{"setting": "gold"}`.
        total: axes that have a mean over all their values too.
        label_mix: shares of the values of a label, `fact=.6,summary=.4`.
        label_mix_from: a labelled log with these shares.
        options: `best`, `average` and `zero_shot`, as for the command.

    Raises:
        ConfigError: an axis, a metric or a value is unknown, or a cell would mix results.
        StoreError: there is no such store, or it has no such experiment.
    """
    joined = _joined(sources)
    mix = _mix(joined, label_mix, str(label_mix_from))
    asked = _names(rows), _names(columns), _names(metric), _filters(where)
    return Leaderboard(make_board(joined, BoardRequest(*asked, _names(total), mix=mix, **options)))


def effects(
    sources: Sources = (),
    *,
    metric: Names = (),
    where: Mapping[str, Names] | None = None,
    factors: Names = (),
    **options: Any,
) -> EffectsReport:
    """Return the report of `ragstone effects` (docs/effects.md).

    Args:
        sources: those of `leaderboard`.
        metric: metrics or values; by default the headline.
        where: axis -> the values that count.
        factors: factors within queries; by default those that vary.
        options: `method`, `calls`, `confidence` and `seed`, as for the command.

    Raises:
        ConfigError: a name is unknown, or the factors do not distinguish results.
        DatasetError: no query has a score in every cell.
    """
    return make_effects(_scores(sources, metric, where, factors), **options)


def sensitivity(
    sources: Sources = (),
    *,
    over: Names = (),
    metric: Names = (),
    where: Mapping[str, Names] | None = None,
    factors: Names = (),
    **options: Any,
) -> SensitivityReport:
    """Return the report of `ragstone sensitivity` (docs/effects.md).

    Args:
        sources: those of `leaderboard`.
        over: choices to compare; by default those of prompt, judge, metric and data that vary.
        metric: metrics or values; by default the headline.
        where: axis -> the values that count.
        factors: factors within queries; by default those that vary.
        options: `persistence`, `confidence` and `seed`, as for the command.

    Raises:
        ConfigError: a name is unknown, nothing varies, or the factors do not distinguish results.
        DatasetError: no query has a score in every cell.
    """
    return make_sensitivity(_scores(sources, metric, where, factors), _names(over), **options)


def _joined(sources: Sources) -> JoinedResults:
    if isinstance(sources, str | Path | StoredResults):
        return read_joined([sources])
    return read_joined(list(sources))


def _names(written: Names) -> tuple[str, ...]:
    return (written,) if isinstance(written, str) else tuple(written)


def _filters(where: Mapping[str, Names] | None) -> dict[str, Sequence[str]]:
    return {axis: _names(values) for axis, values in (where or {}).items()}


def _mix(joined: JoinedResults, written: str, path: str) -> LabelMix | None:
    if written:
        return parse_mix(written, joined)
    return read_mix(path, joined) if path else None


def _scores(
    sources: Sources, metric: Names, where: Mapping[str, Names] | None, factors: Names
) -> CrossedScores:
    selection = ScoreSelection(_names(metric), _filters(where), _names(factors))
    return crossed_scores(_joined(sources), selection)
