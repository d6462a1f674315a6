"""The page of the leaderboard: all experiments of the store on one data set, by one metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.errors import StoreError
from ragstone.evaluation.kept_probes import probes_state
from ragstone.results.board.cells import BoardCell
from ragstone.results.board.table import BoardRequest, make_board
from ragstone.results.factors import NONE
from ragstone.results.joined import RETRIEVAL, JoinedResults, JoinedRow, data_factors_apart
from ragstone.results.judge_notes import MARK
from ragstone.results.reader import StoredResults
from ragstone.results.trained_parts import TRAINED
from ragstone.view.chosen import TrialName
from ragstone.view.store_view import ListedExperiment, StoreView
from ragstone.view.tables import (
    Consequence,
    ListPage,
    ViewColumn,
    ViewFilter,
    ViewTable,
    counted,
    list_page,
    mean_value,
    paged,
    plot_axis,
)
from ragstone.web.errors import PageError, StateText
from ragstone.web.numbers import share
from ragstone.web.page_query import PageQuery, page_address

_PARTS: Final = ("retriever", "reranker", "generator", "prompt")
"""The factors that are shown below the name of a system."""
_FILTERED: Final = ("retriever", "generator")


@dataclass(frozen=True, slots=True)
class BoardChoice:
    """The scope of a leaderboard: ranks compare answers to the same queries under one setting."""

    data: str
    setting: str
    metric: str


@dataclass(frozen=True, slots=True)
class ViewBoard:
    """A leaderboard with its rows, best first."""

    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    apart: tuple[str, ...]
    """Factors in which data sets of the name differ: systems are ranked within each of them."""


def leaderboard_page(view: StoreView, query: PageQuery) -> ListPage:
    """Return the systems of all experiments on one data set under one setting."""
    every = [one for one in view.experiments() if one.is_readable]
    if not every:
        then = "A leaderboard has the finished experiments of a store."
        state = StateText("No experiment of this store has finished.", then, "ragstone run demo")
        return ListPage("No leaderboard yet", state=state)
    data = query.choice("data", dict.fromkeys(one.data for one in every), every[0].data)
    own = [one for one in every if one.data == data]
    settings = _settings(own)
    setting = query.choice("setting", settings, _usual_setting(settings))
    metrics = _metrics(own, setting)
    if not metrics:
        raise PageError(404, StateText(f"No experiment has numbers of {setting} on {data}."))
    metric = query.choice("metric", metrics, _usual_metric(own, metrics))
    choice = BoardChoice(data, setting, metric)
    digests = (*((one.name, one.digest) for one in own), probes_state(view.store))
    board = view.kept(("leaderboard", choice), digests, lambda: _board(view, own, choice))
    return _page(query, choice, board, _choices(choice, every, settings, metrics))


def _choices(
    choice: BoardChoice,
    every: Sequence[ListedExperiment],
    settings: Sequence[str],
    metrics: Sequence[str],
) -> list[ViewFilter]:
    data = list(dict.fromkeys(one.data for one in every))
    return [
        ViewFilter("data", "Data set", choice.data, data, required=True),
        ViewFilter("setting", "Setting", choice.setting, settings, required=True),
        ViewFilter("metric", "Metric", choice.metric, metrics, required=True),
    ]


def _settings(every: Sequence[ListedExperiment]) -> list[str]:
    found = dict.fromkeys(setting for one in every for setting in one.settings)
    ranks = any(kind == "ranking" for one in every for _, kind in one.metrics)
    return [*found, *([RETRIEVAL] if ranks else [])]


def _usual_setting(settings: Sequence[str]) -> str:
    """Return the setting nearest to an application: the passages that the system retrieves."""
    own = (one for one in settings if one.startswith("retrieved"))
    return next(own, settings[-1] if settings else "")


def _metrics(every: Sequence[ListedExperiment], setting: str) -> list[str]:
    ranking = setting == RETRIEVAL
    held = (one for one in every if ranking or setting in one.settings)
    names = (name for one in held for name, kind in one.metrics if (kind == "ranking") is ranking)
    return list(dict.fromkeys(names))


def _usual_metric(every: Sequence[ListedExperiment], metrics: Sequence[str]) -> str:
    return next((one.headline for one in every if one.headline in metrics), metrics[0])


def _board(view: StoreView, own: Sequence[ListedExperiment], choice: BoardChoice) -> ViewBoard:
    """Return a leaderboard; an experiment whose scores cannot be read is left out and named."""
    left_out: list[str] = []
    results = []
    for one in own:
        try:
            results.append(StoredResults(view.store, view.record(one.name)))
        except StoreError as error:
            left_out.append(f"{one.name} is left out: {error}")
    every = JoinedResults.of(results)
    damaged: dict[str, str] = {}
    asked = [row for row in every.rows if _is_of(row, choice)]
    for row in asked:
        try:
            row.scores()
        except StoreError as error:
            damaged[row.factors["experiment"]] = str(error)
    left_out += [f"{name} is left out: {why}" for name, why in damaged.items()]
    if len({row.factors["experiment"] for row in asked}) == len(damaged):
        why = left_out[0] if left_out else f"No result has {choice.metric} of {choice.setting}."
        raise PageError(500 if left_out else 404, StateText(why, "No other experiment has it."))
    kept = tuple(row for row in every.rows if row.factors["experiment"] not in damaged)
    joined = JoinedResults(every.experiments, kept)
    apart = data_factors_apart(joined.rows)
    request = BoardRequest(
        rows=(*apart, "experiment", "system"),
        columns=("setting",),
        metrics=(choice.metric,),
        where={"setting": [choice.setting]},
    )
    table = make_board(joined, request)
    cells = [cell for cell in table.cells.values() if cell.column == (choice.setting,)]
    lower = bool(cells) and cells[0].parts[0].measured.scale.direction == "lower"
    cells.sort(key=_mean, reverse=not lower)
    notes = (*left_out, *(note for note in table.notes if note.startswith((TRAINED, MARK))))
    return ViewBoard(
        tuple(_row(cell, choice, apart) for cell in cells),
        notes,
        tuple(apart),
    )


def _is_of(row: JoinedRow, choice: BoardChoice) -> bool:
    return (row.metric, row.factors["setting"]) == (choice.metric, choice.setting)


def _mean(cell: BoardCell) -> float:
    return -1e300 if cell.summary.mean is None else cell.summary.mean


def _row(cell: BoardCell, choice: BoardChoice, apart: Sequence[str]) -> dict[str, Any]:
    factors = cell.parts[0].measured.factors
    setting = "" if choice.setting == RETRIEVAL else choice.setting
    return {
        "experiment": factors["experiment"],
        "system": factors["system"],
        "setting": choice.setting,
        "trial": str(TrialName(factors["experiment"], factors["system"], setting)),
        "rank": cell.rank,
        "group": cell.group,
        "best": cell.best,
        "mean": mean_value(cell.summary),
        "not_applicable": cell.summary.not_applicable,
        "apart": [factors.get(name, NONE) for name in apart],
        **{name: factors.get(name, NONE) for name in _PARTS},
    }


def _page(
    query: PageQuery, choice: BoardChoice, board: ViewBoard, filters: list[ViewFilter]
) -> ListPage:
    rows = [row for row in board.rows if row["mean"]["mean"] is not None]
    values = {name: sorted({row[name] for row in rows}) for name in _FILTERED}
    chosen = {name: query.choice(name, values[name]) for name in _FILTERED}
    words = query.text("q").lower().split()
    kept = [
        row
        for row in rows
        if all(value in ("", row[name]) for name, value in chosen.items())
        and all(word in f"{row['experiment']}\n{row['system']}".lower() for word in words)
    ]
    filters += [ViewFilter(n, n.capitalize(), chosen[n], values[n]) for n in _FILTERED]
    filters.append(ViewFilter("q", "Experiment or system", query.text("q")))
    best = rows[0] if rows else None
    axis = plot_axis((row["mean"] for row in rows), guide=best["mean"]["mean"] if best else None)
    heads: list[bool] = []
    places = paged(query, kept, lambda row: _shown(row, best, heads))
    table = ViewTable(
        *("board", "Leaderboard", _columns(choice, board)),
        lead="A rank is the best and the worst position that the paired tests allow.",
        unit="systems",
        total=len(rows),
        axis=axis,
        **places,
    )
    return ListPage(
        _verdict(rows, choice, board),
        _basis(rows, choice),
        _follows(rows, choice),
        filters,
        (table,),
        board.notes,
    )


def _columns(choice: BoardChoice, board: ViewBoard) -> list[ViewColumn]:
    mark = MARK if any(note.startswith(MARK) for note in board.notes) else ""
    return [
        ViewColumn("system", "System", "name"),
        ViewColumn("place", "Rank", "plain"),
        ViewColumn("mean", f"{choice.metric}{mark}, mean and 95 % interval", "mean"),
        ViewColumn("compare", "Compare", "words"),
    ]


def _shown(
    row: Mapping[str, Any], best: Mapping[str, Any] | None, heads: list[bool]
) -> dict[str, Any]:
    """Return a row as the page shows it, below a head if it differs from the row before it.

    `heads` are whether no system is shown to be better than those of the rows so far.
    """
    unbeaten = row["rank"] is not None and row["rank"][0] == 1
    group = ""
    if row["rank"] is not None and heads[-1:] != [unbeaten]:
        heads.append(unbeaten)
        group = "No system is shown to be better" if unbeaten else "Shown to be worse than another"
    parts = (row[name] for name in _PARTS if row[name] not in (NONE, ""))
    other = best if best and best is not row else None
    link = other and page_address("/compare", {"a": row["trial"], "b": other["trial"]})
    where = {name: row[name] for name in ("experiment", "system")}
    where["setting"] = "" if row["setting"] == RETRIEVAL else row["setting"]
    return {
        **row,
        "group": group,
        "band": unbeaten,
        "place": _rank(row["rank"]),
        "compare": "with best" if link else "the best",
        "links": {
            "system": page_address("/causes", where) if where["setting"] else "",
            "compare": link or "",
        },
        "notes": {"system": " · ".join((row["experiment"], *row["apart"], *parts))},
    }


def _rank(rank: tuple[int, int] | None) -> str:
    """Return a rank as a range of positions."""
    if rank is None:
        return "not ranked"
    return f"{rank[0]}\N{EN DASH}{rank[1]}" if rank[0] != rank[1] else str(rank[0])


def _verdict(rows: Sequence[Mapping[str, Any]], choice: BoardChoice, board: ViewBoard) -> str:
    if not rows:
        return f"No system has a mean of {choice.metric} on {choice.data}."
    best = rows[0]
    mean = share(best["mean"]["mean"])
    if board.apart:
        names = ", ".join(board.apart)
        return f"Data sets called {choice.data} differ in {names}: ranks are those within each."
    if len(rows) == 1:
        return f"{best['system']} has {choice.metric} {mean}, and no other system was measured."
    if best["rank"] is None:
        return f"{len(rows):,} systems by {choice.metric}, which has no better direction."
    tied = best["rank"][1] - 1
    head = f"{best['system']} has the best {choice.metric}, {mean}"
    if not tied:
        return f"{head}, and is shown to be better than all others."
    others = f"{tied:,} other system{'s are' if tied > 1 else ' is'}"
    return f"{head}, but {others} not shown to differ from it."


def _basis(rows: Sequence[Mapping[str, Any]], choice: BoardChoice) -> str:
    counts = [row["mean"]["n"] for row in rows]
    low, high = min(counts, default=0), max(counts, default=0)
    n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    failed = sum(row["mean"]["failed"] for row in rows)
    experiments = len({row["experiment"] for row in rows})
    return (
        f"{choice.metric} under {choice.setting} on {choice.data}: {counted(len(rows), 'system')} "
        f"of {counted(experiments, 'experiment')}, n {n}, {failed:,} failed. Intervals are 95 %. "
        "Differences are paired by query and Holm-corrected; with many systems each is compared "
        "with the best."
    )


def _follows(rows: Sequence[Mapping[str, Any]], choice: BoardChoice) -> list[Consequence]:
    found = []
    if len(rows) > 1:
        link = page_address("/compare", {"a": rows[1]["trial"], "b": rows[0]["trial"]})
        said = f"{rows[1]['system']} of {rows[1]['experiment']} has the second best mean."
        found.append(Consequence("The first two", said, link, "Compare them"))
    if rows and choice.setting != RETRIEVAL:
        names = ("experiment", "system", "setting")
        link = page_address("/causes", {name: rows[0][name] for name in names})
        said = "Wrong answers of the best system,"
        found.append(Consequence("Causes", said, link, "by cause"))
    return found


LEADERBOARD: Final = list_page("/leaderboard", "Leaderboard", leaderboard_page, tab="Leaderboard")
