"""The mechanism of the pages: one function from an address to plain data, and a template.

The plain data is the page: the template shows it, and the twin of the page (`<page>.json`) is it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ragstone.view.store_view import StoreView
from ragstone.web.page_query import PageQuery

Document: TypeAlias = dict[str, Any]
"""Plain data: mappings, lists, texts, numbers and dataclasses."""


@dataclass(frozen=True)
class ViewPage:
    """A page of the server."""

    path: str
    """The path, such as `/leaderboard`; `{name}` is one part: `/query/{query_id}`."""
    title: str
    """The title of the browser's tab."""
    template: str
    make: Callable[[StoreView, PageQuery], Document]
    tab: str = ""
    """The word in the navigation; "" for a page that only others link to."""
    marks: str = ""
    """The path of the page that the navigation marks as the current one; "" for this one."""


@dataclass(frozen=True)
class ActionAnswer:
    """The result of an action: a page to go to, or a file to keep."""

    address: str = ""
    """The address of the page that shows the result."""
    document: Any = None
    """Plain data of the result, for scripts."""
    file_name: str = ""
    body: bytes = b""
    content_type: str = "text/csv; charset=utf-8"
    page: ViewPage | None = None
    """The page that is shown again with the entered values, as nothing was done; `document` is its
    plain data and `query` its address."""
    query: PageQuery = field(default_factory=lambda: PageQuery(""))


@dataclass(frozen=True)
class ViewAction:
    """A button of a page: a POST with the values of a form.

    A form carries the hidden fields `token` and `basis` (`form_fields` in the templates). A form of
    an earlier server, or one whose `basis` differs from that of `basis_of`, does nothing; the page
    that is shown instead has all its values and a button that sends them again.
    """

    path: str
    run: Callable[[StoreView, Mapping[str, str]], ActionAnswer]
    basis: Callable[[StoreView, Mapping[str, str]], str] = lambda _view, _values: ""
    """The state of the store that the form was made from, such as the digest of a record."""
    reads: bool = False
    """Whether it only reads: a GET with the values in the address, without hidden fields."""
