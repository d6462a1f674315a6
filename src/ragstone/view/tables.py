"""The parts of a list page: a verdict, its basis, its consequences, filters and tables.

The pages are plain data in these shapes, and one template shows them all (`list.html`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, TypeAlias, TypeVar

from ragstone.statistics.summary import Summary
from ragstone.view.page import Document, ViewPage
from ragstone.view.store_view import StoreView
from ragstone.web import limits
from ragstone.web.errors import StateText
from ragstone.web.page_query import PageQuery

ColumnKind: TypeAlias = Literal[
    "name", "title", "text", "label", "plain", "words", "long", "mark", "cause",
    "mean", "proportion", "difference",
    "count", "share", "points", "duration", "money", "moment",
]  # fmt: skip
"""How the template shows a value. `mean`, `proportion` and `difference` are drawn too. A long text
is cut, except for a `label`, `plain` and `words`; the last two are words of Ragstone itself. The
first column is the head of its row."""
_Row = TypeVar("_Row")
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column: the key of its values in the rows, its head, and how they are shown."""

    key: str
    head: str
    kind: ColumnKind = "text"


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """The axis of the intervals that a column draws."""

    low: float
    high: float
    ticks: tuple[float, ...]
    guide: float | None = None
    """The best mean, or 0 for differences."""


@dataclass(frozen=True, slots=True)
class ViewTable:
    """A table: a page of the rows that match the filters."""

    id: str
    title: str
    columns: Sequence[ViewColumn]
    rows: Sequence[Mapping[str, Any]]
    """Column key -> value; `links` and `notes` have addresses and texts by column key, `group` is
    a heading above the row, and `band` marks it."""
    lead: str = ""
    unit: str = "rows"
    total: int = 0
    """Rows without filters."""
    found: int = 0
    """Rows that match the filters."""
    start: int = 0
    axis: PlotAxis | None = None


@dataclass(frozen=True, slots=True)
class ViewFilter:
    """A field of the form above the tables; its value is in the address."""

    name: str
    label: str
    value: str = ""
    options: Sequence[str] | None = None
    """The values to choose from; None for a text field."""
    suggested: Sequence[str] = ()
    """Values that a text field suggests."""
    required: bool = False
    """Whether one of the options is always chosen."""


@dataclass(frozen=True, slots=True)
class Consequence:
    """A consequence of the verdict, with a link to the page that shows more."""

    head: str
    said: str
    link: str = ""
    link_text: str = ""


@dataclass(frozen=True, slots=True)
class ListPage:
    """A list page in the order in which it is read."""

    verdict: str
    basis: str = ""
    follows: Sequence[Consequence] = ()
    filters: Sequence[ViewFilter] = ()
    tables: Sequence[ViewTable] = ()
    notes: Sequence[str] = ()
    state: StateText | None = None
    """Shown instead of the tables."""
    more: Document = field(default_factory=dict)
    """Further content of the page's twin."""


def list_page(
    path: str, title: str, make: Callable[[StoreView, PageQuery], ListPage], tab: str = ""
) -> ViewPage:
    """Return the page of the server that shows a list page."""

    def document(view: StoreView, query: PageQuery) -> Document:
        made = make(view, query)
        return {one.name: getattr(made, one.name) for one in fields(made)}

    return ViewPage(path, title, "list.html", document, tab=tab)


def paged(
    query: PageQuery, rows: Sequence[_Row], row: Callable[[_Row], Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the rows of the page that the address names (`from`), and how many there are."""
    start = query.number("from", 0, most=max(0, len(rows)))
    shown = rows[start : start + limits.VIEW_ROWS]
    return {"rows": [row(one) for one in shown], "found": len(rows), "start": start}


def mean_value(found: Summary) -> Document:
    """Return a mean with its interval, and the numbers of queries, failures and others."""
    return {
        **drawn_mean(found.mean, found.interval, found.n, found.failed),
        "unscored": found.unscored,
        "not_applicable": found.not_applicable,
    }


def drawn_mean(
    mean: float | None, interval: tuple[float, float] | None, n: int, failed: int = 0
) -> Document:
    """Return the value of a column of means or of proportions."""
    ends = None if interval is None else list(interval)
    value = {"mean": mean, "interval": ends, "n": n, "failed": failed}
    return {**value, "unscored": 0, "not_applicable": 0}


def plot_axis(
    values: Iterable[Mapping[str, Any]], *, key: str = "mean", guide: float | None = None
) -> PlotAxis | None:
    """Return an axis that fits some means or differences with their intervals; None without one."""
    found = [guide] if guide is not None else []
    for one in values:
        found += [one[key]] if one[key] is not None else []
        found += one["interval"] or []
    if not found:
        return None
    low, high = min(found), max(found)
    space = (high - low) * 0.06 or 0.5
    low, high = low - space, high + space
    step = _step((high - low) / _TICKS)
    first, last = math.ceil(low / step), math.floor(high / step)
    ticks = tuple(round(number * step, 10) for number in range(first, last + 1))
    return PlotAxis(low, high, ticks, guide)


def _step(wanted: float) -> float:
    """Return the next larger distance of ticks that people read easily.

    >>> _step(0.03), _step(0.2)
    (0.05, 0.2)
    """
    scale = 10.0 ** math.floor(math.log10(wanted))
    return next(round(scale * one, 12) for one in _STEPS if scale * one >= wanted * 0.999)


def along(axis: PlotAxis, value: float) -> str:
    """Return the position of a value on an axis, in per cent.

    >>> along(PlotAxis(0.0, 2.0, ()), 0.5)
    '25%'
    """
    place = 100 * (value - axis.low) / (axis.high - axis.low)
    return f"{min(max(place, 0), 100):.1f}".removesuffix(".0") + "%"


def between(axis: PlotAxis, ends: Sequence[float]) -> str:
    """Return how long an interval is on an axis, in per cent.

    >>> between(PlotAxis(0.0, 2.0, ()), (0.5, 1.5))
    '50%'
    """
    length = 100 * (ends[1] - ends[0]) / (axis.high - axis.low)
    return f"{length:.1f}".removesuffix(".0") + "%"


def cut(value: object) -> str:
    """Return the beginning of a text, if it is too long for a list."""
    text, most = str(value), limits.VIEW_CELL_CHARACTERS
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "query"), counted(2000, "query"), counted(2, "system")
    ('1 query', '2,000 queries', '2 systems')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"
