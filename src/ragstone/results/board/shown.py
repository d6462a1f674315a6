"""Tables over experiments for people and programs: texts of cells, headers, plain forms."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragstone.core.schemas import BOARD_CELLS, to_table, with_texts
from ragstone.core.tables import TextTable
from ragstone.results.board.cells import BoardCell, Key
from ragstone.results.board.ranking import DataRanks, MixTurn
from ragstone.results.board.table import BoardTable
from ragstone.results.judge_notes import MARK
from ragstone.results.trained_parts import TRAINED
from ragstone.results.wording import ABSENT, interval_text, number
from ragstone.statistics.mean_ranks import FEW_BLOCKS

if TYPE_CHECKING:
    from arro3.core import Table

Detail: TypeAlias = Literal["interval", "group", "n", "mean"]
"""The detail of a cell beside the mean."""


@dataclass(frozen=True)
class HeaderCell:
    """A value of a column axis above the columns that share it."""

    text: str
    span: int


def header_rows(table: BoardTable) -> list[list[HeaderCell]]:
    """Return a row of headers per column axis; equal neighbours below one header are one cell."""
    found = []
    for depth in range(len(table.axes.columns)):
        groups = groupby(table.columns, key=lambda key: key[: depth + 1])
        found.append([HeaderCell(key[-1], len(list(members))) for key, members in groups])
    return found


def row_heads(table: BoardTable) -> list[list[str]]:
    """Return the head of each row; a value that is that of the row above is empty."""
    found, above = list[list[str]](), Key()
    for row in table.rows:
        same = True
        heads = []
        for place, value in enumerate(row):
            same = same and place < len(above) and above[place] == value
            # The last axis is always written.
            heads.append("" if same and place < len(row) - 1 else value)
        found.append(heads)
        above = row
    return found


def mean_of_cell(cell: BoardCell) -> str:
    """Return the mean as text; counts are whole numbers."""
    if cell.kind == "count" and cell.summary.mean is not None:
        return f"{cell.summary.mean:,.0f}"
    return number(cell.summary.mean)


def detail_of_cell(cell: BoardCell, detail: Detail) -> str:
    """Return the detail beside the mean, or ""."""
    if cell.kind == "count" or cell.summary.mean is None:
        return ""
    if detail == "interval":
        return interval_text(cell.summary.interval).strip()
    if detail == "group":
        return "" if cell.group is None else f"({cell.group})"
    return f"n {cell.summary.n:,}" if detail == "n" else ""


def marks_of_cell(cell: BoardCell) -> str:
    """Return the marks behind the mean."""
    marks = {"*": cell.best, TRAINED: cell.trained, MARK: cell.judge_notes}
    return "".join(mark for mark, is_shown in marks.items() if is_shown)


def _text(cell: BoardCell | None, detail: Detail) -> str:
    if cell is None:
        return ABSENT
    parts = (mean_of_cell(cell) + marks_of_cell(cell), detail_of_cell(cell, detail))
    return " ".join(filter(None, parts))


def board_parts(table: BoardTable, detail: Detail = "interval") -> Iterator[str | TextTable]:
    """Yield the head, the table, the ranks over data sets, the turns of the mix and the notes."""
    yield "\n".join(table.head)
    headers = [*table.axes.rows, *(" | ".join(key) for key in table.columns)]
    lines = [
        [*heads, *(_text(table.cells.get((row, column)), detail) for column in table.columns)]
        for row, heads in zip(table.rows, row_heads(table), strict=True)
    ]
    shown = {"interval": "mean [95 % interval]", "group": "mean (group)", "n": "mean, n"}
    yield TextTable(headers, lines, shown.get(detail, "mean"), below=sizes(table))
    for one in table.average:
        yield average_table(one)
    if table.request.mix:
        yield turns_text(table)
    if table.notes:
        yield "\n".join(table.notes)


def sizes(table: BoardTable) -> list[str]:
    """Return a line with the numbers of queries of the cells."""
    counts = [cell.summary.n for cell in table.cells.values() if cell.kind == "mean"]
    if not counts:
        return []
    low, high = min(counts), max(counts)
    return [f"n {low:,}" if low == high else f"n {low:,} to {high:,} by cell (--json has all)"]


def average_title(one: DataRanks) -> str:
    """Return the title of a table of mean ranks."""
    place = ", ".join(filter(None, [*one.place, one.setting]))
    return f"{one.metric} ({place}) over {len(one.data)} data sets"


def average_lines(one: DataRanks) -> list[str]:
    """Return the results of the tests of the mean ranks."""
    ranks = one.ranks
    value = "one order on all data sets" if ranks.statistic is None else f"F {ranks.statistic:.3g}"
    found = [
        f"Friedman's test, Iman and Davenport: {value}, p {_p(ranks.p)}",
        f"critical difference of mean ranks (Nemenyi, 0.05): {ranks.critical_difference:.2f}",
    ]
    if ranks.blocks < FEW_BLOCKS:
        found.append(f"With fewer than {FEW_BLOCKS} data sets these tests show little.")
    return found


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {p:.2g}"  # noqa: PLR2004 - the least p that is shown


def average_rows(one: DataRanks) -> list[list[str]]:
    """Return system, mean over data sets, mean rank and group."""
    return [
        [
            system,
            number(one.means[system]),
            f"{one.ranks.mean_ranks[system]:.2f}",
            str(one.ranks.places[system].group),
        ]
        for system in one.ranks.systems
    ]


def average_table(one: DataRanks) -> TextTable:
    """Return the mean ranks over data sets as a table."""
    headers = ["system", "mean", "mean rank", "group"]
    return TextTable(headers, average_rows(one), average_title(one), below=average_lines(one))


def turn_text(turn: MixTurn) -> str:
    """Return at which share another cell leads, as a sentence."""
    way = "above" if turn.share > turn.expected else "below"
    place = ", ".join(filter(None, [turn.metric, turn.place]))
    return (
        f"{place}: {turn.first} leads; {turn.second} leads if the share of {turn.value} is {way} "
        f"{turn.share:.2f} (expected {turn.expected:.2f})"
    )


def turns_text(table: BoardTable) -> str:
    """Return under which mixes the order turns."""
    title = "Under which mixes the order turns (by the means; the other shares keep their ratio)"
    lines = [f"  {turn_text(turn)}" for turn in table.turns]
    return "\n".join([title, *(lines or ["  under none"])])


def to_csv(table: BoardTable) -> str:
    """Return one line per cell, numbers unrounded."""
    return csv_text(table_of_cells(table))


def csv_text(rows: Table) -> str:
    """Return an Arrow table as CSV, numbers unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows.column_names)
    columns = [rows.column(name).to_pylist() for name in rows.column_names]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def table_of_cells(table: BoardTable) -> Table:
    """Return one row per cell as an Arrow table: the axes, then the columns of `BOARD_CELLS`."""
    cells = [
        table.cells[row, column]
        for row in table.rows
        for column in table.columns
        if (row, column) in table.cells
    ]
    bounds = [cell.summary.interval or (None, None) for cell in cells]
    found = to_table(
        BOARD_CELLS,
        {
            "metric": [cell.metric for cell in cells],
            "setting": [cell.setting for cell in cells],
            "mean": [cell.summary.mean for cell in cells],
            "low": [low for low, _ in bounds],
            "high": [high for _, high in bounds],
            "n": [cell.summary.n for cell in cells],
            "failed": [cell.summary.failed for cell in cells],
            "group": [cell.group for cell in cells],
            "best": [int(cell.best) for cell in cells],
            "data": [", ".join(cell.data) for cell in cells],
        },
    )
    keys = [dict(zip(table.axes.every, (*c.row, *c.column), strict=True)) for c in cells]
    own = [axis for axis in table.axes.every if axis not in BOARD_CELLS.names]
    return with_texts(found, **{axis: [key[axis] for key in keys] for axis in own})


def parquet_bytes(table: BoardTable) -> bytes:
    """Return `table_of_cells` as the content of a Parquet file."""
    import io

    from arro3.io import write_parquet

    content = io.BytesIO()
    write_parquet(table_of_cells(table), content)
    return content.getvalue()
