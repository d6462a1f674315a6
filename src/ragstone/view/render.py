"""Templates of the pages, and the files that they load."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from ragstone.causes.order import BY_NAME
from ragstone.core import limits
from ragstone.results.page import shown_controls
from ragstone.version import __version__
from ragstone.view import numbers
from ragstone.view.marked import gold_parts
from ragstone.view.page_query import page_address
from ragstone.view.tables import along, between, cut

if TYPE_CHECKING:
    from jinja2 import Environment

ASSETS: Final = {"view.css": "text/css", "view.js": "text/javascript"}
GROUPS: Final = {
    "retrieval": "finding", "reading": "reading", "refusal": "refusing", "failure": "failed",
}  # fmt: skip
"""Group of causes -> the class of its mark."""


@cache
def asset(name: str) -> bytes:
    """Return the bytes of the style or of the script."""
    return (resources.files("ragstone.view") / "templates" / name).read_bytes()


@cache
def asset_address(name: str) -> str:
    """Return the address of the style or of the script, which changes with its content."""
    return f"/assets/{name}?v={hashlib.sha256(asset(name)).hexdigest()[:12]}"


def render(template: str, **values: Any) -> str:
    """Return the HTML of a page; control characters of its texts are shown as escapes."""
    return shown_controls(environment().get_template(template).render(**values))


@cache
def environment() -> Environment:
    """Return the environment of the templates; all texts are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("ragstone.view", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {name: getattr(numbers, name) for name in numbers.FILTERS}
    made.filters["gold_parts"] = gold_parts
    made.filters["cause_group"] = _cause_class
    made.globals |= {"address": page_address, "asset": asset_address, "version": __version__}
    made.globals |= {
        "along": along,
        "between": between,
        "cut": cut,
        "shown": numbers.shown,
        "rows_of_a_page": lambda: limits.VIEW_ROWS,
    }
    return made


def _cause_class(name: str) -> str:
    """Return the class of the mark of a cause; refinements and undecided ones have that of none."""
    return GROUPS.get(BY_NAME[name].group, "open") if name in BY_NAME else "open"
