"""The state of a page: the values in its address, checked when they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from ragstone.errors import did_you_mean
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText

_SAFE = ":()/,"
"""Characters that stay as they are in a value of an address."""
TWIN = ".json"
"""The end of the address of a page's plain data."""


def page_address(path: str, values: Mapping[str, object] | None = None) -> str:
    """Return the address of a page with some values; empty ones are left out.

    A page whose last part ends with `.json` or a slash gets a slash, so that it is not taken for a
    twin or for another page.

    >>> page_address("/query/q 1", {"system": "bm25 + small", "setting": ""})
    '/query/q%201?system=bm25+%2B+small'
    >>> page_address("/query/a.json")
    '/query/a.json/'
    """
    given = {name: str(value) for name, value in (values or {}).items() if value not in ("", None)}
    place = quote(path, safe="/") + ("/" if path.endswith((TWIN, "/")) else "")
    return f"{place}?{urlencode(given, safe=_SAFE)}" if given else place


@dataclass(frozen=True)
class PageQuery:
    """The address of a page: its path, the parts of the path with a name, and the values."""

    path: str
    parts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    def part(self, name: str) -> str:
        """Return a part of the path, such as the id in `/query/ID`."""
        return self.parts[name]

    def text(self, name: str, default: str = "") -> str:
        """Return a value, or the default if it is absent or empty."""
        value = self.values.get(name, "") or default
        if len(value) > (most := limits.VIEW_PARAMETER_CHARACTERS):
            then = f"The address may have at most {most:,} characters per value."
            raise PageError(400, StateText(f"{name} has {len(value):,} characters.", then))
        return value

    def choice(self, name: str, known: Iterable[str], default: str = "") -> str:
        """Return a value that is one of the known ones, or the default if it is absent."""
        names = list(known)
        value = self.text(name, default)
        if value and value not in names and value != default:
            said = f"There is no {name} {value!r}{did_you_mean(value, names)}"
            raise PageError(404, StateText(said, link=self.link({name: ""}), link_text="Show all"))
        return value

    def number(self, name: str, default: int, *, least: int = 0, most: int = 10**9) -> int:
        """Return a whole number between two bounds."""
        value = self.text(name, str(default))
        if not (value.isascii() and value.isdigit()) or not least <= int(value[:12]) <= most:
            then = f"It must be a whole number from {least} to {most:,}."
            raise PageError(400, StateText(f"{name} is {value!r}.", then))
        return int(value)

    def link(self, changes: Mapping[str, object] | None = None) -> str:
        """Return the address of this page with other values; an empty value is left out."""
        return page_address(self.path, {**self.values, **(changes or {})})

    @property
    def address(self) -> str:
        """The address of this page."""
        return page_address(self.path, self.values)

    @property
    def twin(self) -> str:
        """The address of the plain data of this page."""
        values = {name: value for name, value in self.values.items() if name != "scheme"}
        address = page_address(self.path + TWIN, values)
        return address.replace(f"{TWIN}/", TWIN, 1) if f"{TWIN}/" in address else address
