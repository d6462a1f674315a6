"""Tables over experiments in LaTeX, with booktabs, ready to include."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ragstone.core.tables import TextTable
from ragstone.results.board.cells import BoardCell
from ragstone.results.board.shown import (
    Detail,
    HeaderCell,
    detail_of_cell,
    header_rows,
    mean_of_cell,
    row_heads,
)
from ragstone.results.board.table import BoardTable
from ragstone.results.wording import ABSENT
from ragstone.version import __version__

_ESCAPES: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "\N{DOUBLE DAGGER}": r"\ddag{}",
    "\N{MINUS SIGN}": "$-$",
}


def escaped(text: str) -> str:
    r"""Return a text on one line that LaTeX prints as it is.

    >>> print(escaped(r"50% of {a_b}\input{x}"))
    50\% of \{a\_b\}\textbackslash{}input\{x\}
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return re.sub(r"[\\{}$&#%_^~<>|\"`\[\]\u2021\u2212]", lambda m: _ESCAPES[m[0]], line)


def to_latex(table: BoardTable, detail: Detail = "interval") -> str:
    r"""Return a `table` environment; the document needs `\usepackage{booktabs}` and T1 fonts."""
    columns = "l" * len(table.axes.rows) + "c" * len(table.columns)
    return _table(columns, _header(table), _body(table, detail), _caption(table, detail))


def text_table_latex(table: TextTable, heads: int) -> str:
    """Return a table of texts as `to_latex` does; the first `heads` columns are left-aligned."""
    columns = "l" * heads + "c" * (len(table.headers) - heads)
    header, *body = (
        " & ".join(escaped(str(cell)) for cell in row) + r" \\"
        for row in (table.headers, *table.rows)
    )
    return _table(columns, [header], body, ". ".join([table.title, *table.below]) + ".")


def _table(columns: str, header: Iterable[str], body: Iterable[str], caption: str) -> str:
    return "\n".join(
        [
            f"% Written by ragstone {__version__}. Needs \\usepackage{{booktabs}} and",
            "% \\usepackage[T1]{fontenc}.",
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *header,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{escaped(caption)}}}",
            r"\end{table}",
            "",
        ]
    )


def _header(table: BoardTable) -> Iterator[str]:
    heads = len(table.axes.rows)
    rows = header_rows(table)
    for depth, row in enumerate(rows):
        last = depth == len(rows) - 1
        names = [escaped(axis) if last else "" for axis in table.axes.rows]
        yield " & ".join([*names, *map(_spanning, row)]) + r" \\"
        if not last:
            yield " ".join(_rules(row, heads))


def _spanning(cell: HeaderCell) -> str:
    return (
        escaped(cell.text)
        if cell.span == 1
        else rf"\multicolumn{{{cell.span}}}{{c}}{{{escaped(cell.text)}}}"
    )


def _rules(row: list[HeaderCell], heads: int) -> Iterator[str]:
    first = heads + 1
    for cell in row:
        yield rf"\cmidrule(lr){{{first}-{first + cell.span - 1}}}"
        first += cell.span


def _body(table: BoardTable, detail: Detail) -> Iterator[str]:
    for place, (row, heads) in enumerate(zip(table.rows, row_heads(table), strict=True)):
        # A rule precedes each new value of the first of several axes.
        if place and len(heads) > 1 and heads[0]:
            yield r"\midrule"
        cells = (_cell(table.cells.get((row, column)), detail) for column in table.columns)
        yield " & ".join([*map(escaped, heads), *cells]) + r" \\"


def _cell(cell: BoardCell | None, detail: Detail) -> str:
    if cell is None:
        return ABSENT
    mean = mean_of_cell(cell)
    mean = rf"\textbf{{{mean}}}" if cell.best else mean
    mean += r"\textsuperscript{\ddag}" if cell.trained else ""
    mean += r"\textsuperscript{\dag}" if cell.judge_notes else ""
    if detail == "group":
        return mean + (rf"\textsuperscript{{{cell.group}}}" if cell.group else "")
    more = detail_of_cell(cell, detail)
    return rf"{mean} {{\scriptsize {escaped(more)}}}" if more else mean


def _caption(table: BoardTable, detail: Detail) -> str:
    shown = {
        "interval": "Means with 95 % intervals",
        "group": "Means; the superscript is the group of cells that no test tells apart",
        "n": "Means with numbers of queries",
    }
    notes = [note.replace("* best", "Bold: best") for note in table.notes]
    parts = [*table.head, shown.get(detail, "Means"), *notes]
    return ". ".join(part[:1].upper() + part[1:] for part in parts) + "."
