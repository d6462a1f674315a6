"""The stability of public names, commands and file formats, from docs/stability.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml
from tools.site.commands_pages import commands
from tools.site.page_text import code, escaped, page, table

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "stability.yaml"
UP: Final = "../"


class PublicName(NamedTuple):
    """A public name: its module, stability and page; its promised and its experimental members."""

    name: str
    module: str
    level: str
    page: str
    members: tuple[str, ...]
    experimental: tuple[str, ...]


@cache
def document() -> Mapping[str, Any]:
    """Return the file as plain data."""
    found: Mapping[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return found


def public_names() -> list[PublicName]:
    """Return every public name, in the order of the file."""
    found = []
    for on, group in document()["api"].items():
        module = group.get("module", "ragstone")
        for name, mark in group["names"].items():
            facts = mark if isinstance(mark, Mapping) else {"level": mark}
            lists = (tuple(facts.get(key, ())) for key in ("members", "experimental"))
            found.append(PublicName(name, module, facts["level"], on, *lists))
    return found


def level_of_command(path: tuple[str, ...]) -> str | None:
    """Return the stability of a command: its own mark, else that of the command above; or None."""
    marks: Mapping[str, str] = document()["commands"]
    for end in range(len(path), 0, -1):
        if (name := " ".join(path[:end])) in marks:
            return marks[name]
    return None


def stability_page() -> str:
    """Return the page: the levels, the names, the commands and the formats."""
    names = [
        (
            code(one.name if one.module == "ragstone" else f"{one.module}.{one.name}"),
            one.level,
            f"[{document()['api'][one.page]['title']}](api/{one.page}.md)",
        )
        for one in public_names()
    ]
    listed = [
        (
            f"[`ragstone {' '.join(path)}`](commands/{'-'.join(path)}.md)",
            level_of_command(path) or "",
        )
        for path, _ in commands()
    ]
    formats = [
        (f"[{name}]({UP}{facts['page']})", facts["level"], escaped(facts["says"]))
        for name, facts in document()["formats"].items()
    ]
    return page(
        "# Stability",
        table(
            ("level", "meaning"),
            [(f"**{k}**", escaped(v)) for k, v in document()["levels"].items()],
        ),
        "Names that are not on this page may change in any version. A member of a class has the "
        "stability of its class, unless its page lists it as experimental.",
        "## Public names",
        table(("name", "stability", "page"), names),
        "## Commands",
        table(("command", "stability"), listed),
        "## File formats",
        table(("format", "stability", "promise"), formats),
    )
