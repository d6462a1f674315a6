"""Results as tables: for people, in a terminal or a notebook, and for pandas, polars and Arrow."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from ragstone.core.environment import require
from ragstone.core.screen_text import isolated, plain

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from arro3.core import Table


@dataclass(frozen=True)
class TextTable:
    """A table for people, with a title above it and lines below it."""

    headers: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""
    below: Sequence[str] = ()
    drawn: int | None = None
    """The place of the column in which intervals are drawn as text; None without one."""

    def without_plot(self) -> TextTable:
        """Return the table without the column of drawn intervals, for a page that has charts."""
        rows = [
            [c for n, c in enumerate(row) if n != self.drawn] for row in (self.headers, *self.rows)
        ]
        return TextTable([str(name) for name in rows[0]], rows[1:], self.title, self.below)

    def __str__(self) -> str:
        """Return the table as plain text."""
        return "\n".join(filter(None, [self.title, self._table("simple"), *self.below]))

    def _repr_html_(self) -> str:
        title = f"<p><b>{escape(self.title)}</b></p>" if self.title else ""
        below = "".join(f"<p>{escape(line.strip())}</p>" for line in self.below)
        return f"{title}{self._table('html')}{below}"

    def markdown(self) -> str:
        """Return the table as GitHub's Markdown, the lines below it as a list."""
        cells = [[_escaped(str(cell)) for cell in row] for row in self.rows]
        plain = TextTable([_escaped(name) for name in self.headers], cells)
        below = "\n".join(f"- {_escaped(line.strip())}" for line in self.below)
        title = f"**{_escaped(self.title)}**" if self.title else ""
        return "\n\n".join(filter(None, [title, plain._table("github"), below]))

    def _table(self, form: str) -> str:
        if form == "simple":
            return aligned(self.rows, self.headers)
        from tabulate import tabulate

        text = tabulate(self.rows, self.headers, tablefmt=form, disable_numparse=True)
        # Cells are escaped: each begins at the side of its own script.
        return text if form != "html" else re.sub(r"<(t[dh])\b", r'<\1 dir="auto"', text)


def aligned(
    rows: Sequence[Sequence[object]], headers: Sequence[str] = (), form: str = "simple"
) -> str:
    r"""Return a table for the terminal, whose columns are aligned in every script.

    Control characters are codes. If standard output is a terminal, cells with right-to-left letters
    are isolated, so that they do not move other cells.

    >>> print(aligned([["日本", "x"], ["a\x1b", "y"]], ["name", "n"], "plain"))
    name    n
    日本    x
    a\x1b   y
    """
    from tabulate import tabulate

    shown = isolated if sys.stdout.isatty() else str
    cells = [
        [shown(plain(str(cell)).replace("\t", " ")) for cell in row] for row in (headers, *rows)
    ]
    return tabulate(cells[1:], cells[0], tablefmt=form, disable_numparse=True)


def to_markdown(parts: Iterable[str | TextTable]) -> str:
    r"""Return paragraphs and tables as GitHub's Markdown; the lines of a paragraph stay lines.

    >>> print(to_markdown(["Read <this>.\nThen:", TextTable(["a"], [["x|y"]])]))
    Read &lt;this>.\
    Then:
    <BLANKLINE>
    | a    |
    |------|
    | x\|y |
    """
    return "\n\n".join(
        "\\\n".join(map(_escaped, part.splitlines())) if isinstance(part, str) else part.markdown()
        for part in parts
    )


def _escaped(text: str) -> str:
    """Return a text without the marks of HTML and of Markdown's tables."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return " ".join(plain.split())


class Shown:
    """The base of objects that `print` and a notebook show as tables."""

    __slots__ = ()

    def parts(self) -> Iterable[str | TextTable]:
        """Return the paragraphs and tables in order."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the paragraphs and tables as plain text."""
        return "\n\n".join(map(str, self.parts()))

    def _repr_html_(self) -> str:
        return "".join(
            f"<pre>{escape(part)}</pre>" if isinstance(part, str) else part._repr_html_()
            for part in self.parts()
        )


class Tabular(Shown):
    """The base of results: shown as tables, and handed to other tools as one table."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded: the JSON of the command line."""
        raise NotImplementedError

    def to_arrow(self, *, summary: bool = False) -> Table:
        """Return the values as an Arrow table, or their means with `summary`.

        `pyarrow.table` and every other reader of the Arrow C stream accept it.
        """
        raise NotImplementedError

    def to_pandas(self, *, summary: bool = False) -> pd.DataFrame:
        """Return the table of `to_arrow` (also with `summary`) as a pandas data frame."""
        require("to_pandas", "", "pandas")
        import pandas as pd
        from arro3.core import DataType

        table = self.to_arrow(summary=summary)
        # A column of numbers stays one if all its values are missing.
        return pd.DataFrame(
            {
                name: pd.Series(
                    table.column(name).to_pylist(),
                    dtype="float64" if DataType.is_floating(table.field(name).type) else None,
                )
                for name in table.column_names
            }
        )

    def to_polars(self, *, summary: bool = False) -> pl.DataFrame:
        """Return the table of `to_arrow` (also with `summary`) as a polars data frame."""
        require("to_polars", "", "polars")
        import polars as pl

        return pl.DataFrame(self.to_arrow(summary=summary))
