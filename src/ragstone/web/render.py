"""Templates of the pages of a server, and the files that they load."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.shown_text import page_environment, shown_controls
from ragstone.version import __version__
from ragstone.web import limits, numbers
from ragstone.web.marked import gold_parts
from ragstone.web.page_query import page_address

if TYPE_CHECKING:
    from jinja2 import Environment

_SHARED: Final = "ragstone.web"
_TYPES: Final = {".css": "text/css", ".js": "text/javascript"}


@dataclass(frozen=True)
class Templates:
    """The templates, styles and scripts of a package, and those that all pages share.

    Args:
        package: the package with the folder `templates`.
        filters: name -> filter of its templates, besides those of numbers.
        functions: name -> function of its templates.
    """

    package: str
    filters: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def render(self, template: str, **values: Any) -> str:
        """Return the HTML of a page; control characters of its texts are shown as escapes."""
        return shown_controls(self._environment.get_template(template).render(**values))

    @cached_property
    def assets(self) -> dict[str, tuple[str, bytes]]:
        """Name of a style or a script -> its type and its bytes."""
        found = {}
        for package in (_SHARED, self.package):
            for file in (resources.files(package) / "templates").iterdir():
                kind = _TYPES.get(f".{file.name.rpartition('.')[2]}")
                if kind:
                    found[file.name] = (kind, file.read_bytes())
        return found

    def asset_address(self, name: str) -> str:
        """Return the address of a style or a script, which changes with its content."""
        return f"/assets/{name}?v={hashlib.sha256(self.assets[name][1]).hexdigest()[:12]}"

    @cached_property
    def _environment(self) -> Environment:
        """The environment of the templates; all texts are escaped."""
        made = page_environment((self.package, _SHARED))
        made.filters |= {name: getattr(numbers, name) for name in numbers.FILTERS}
        made.filters |= {"gold_parts": gold_parts, **self.filters}
        made.globals |= {
            "address": page_address,
            "asset": self.asset_address,
            "version": __version__,
            "shown": numbers.shown,
            "rows_of_a_page": lambda: limits.VIEW_ROWS,
        }
        made.globals |= self.functions
        return made
