"""Reference pages of the Python API: a page per group of names, with an example that runs.

The signatures and docstrings are those of the code: mkdocstrings reads them (`::: ragstone.NAME`).
The examples are the files `api/GROUP.md` beside this one, which a test runs.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tools.site.page_text import code, escaped, page, table
from tools.site.stability import PublicName, document, public_names

EXAMPLES: Final = Path(__file__).resolve().parent / "api"
UP: Final = "../../"
EXPERIMENTAL: Final = "## Experimental members\n"
"""The heading, in the file of an example, of the part that is shown below the names."""


def api_pages() -> dict[str, str]:
    """Return a page per group, and the index."""
    groups = document()["api"]
    found = {f"reference/api/{name}.md": _group_page(name) for name in groups}
    rows = [
        (f"[{code(one.name)}]({one.page}.md)", one.level, escaped(_first_line(one)))
        for one in public_names()
    ]
    found["reference/api/index.md"] = page(
        "# Python API",
        f"[Ragstone in Python]({UP}python-api.md) is the guide. The levels are explained under "
        "[stability](../stability.md).",
        table(("name", "stability", "purpose"), rows),
    )
    return found


def example(group: str) -> str:
    """Return the example of a group, or "" if its docstrings have all of it."""
    path = EXAMPLES / f"{group}.md"
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def _split(text: str) -> tuple[str, str]:
    """Return an example without its part on experimental members, and that part."""
    before, heading, after = text.partition(EXPERIMENTAL)
    return before.strip(), (heading + after).strip()


def value_of(one: PublicName) -> Any:
    """Return the object of a public name."""
    return getattr(import_module(one.module), one.name)


def _first_line(one: PublicName) -> str:
    value = value_of(one)
    if one.name == "__version__":
        return "The version, as text."
    if isinstance(value, dict):
        return "The kinds of faults of `FakeModelServer`, and what each does."
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _group_page(group: str) -> str:
    names = [one for one in public_names() if one.page == group]
    shown, experimental = _split(example(group))
    return page(
        f"# {document()['api'][group]['title']}",
        "## Example" if shown else "",
        shown,
        *map(_directive, names),
        experimental,
    )


def _directive(one: PublicName) -> str:
    """Return the directive for a name: its class with the promised members, or its function."""
    lines = [f"::: {_path(one)}", "    options:", "      heading_level: 3"]
    lines += ["      show_root_heading: true", "      show_root_full_path: false"]
    lines += ["      show_root_toc_entry: false", "      show_source: false"]
    if inspect.isclass(value_of(one)):
        members = ", ".join((*one.members, *one.experimental))
        lines += [
            "      inherited_members: true",
            f"      members: {f'[{members}]' if members else 'false'}",
        ]
    level = f"Stability: **{one.level}**."
    if one.experimental:
        level += f" **Experimental** members: {', '.join(map(code, one.experimental))}."
    return page(f"## `{one.name}`", level, "\n".join(lines)).strip()


def _path(one: PublicName) -> str:
    return f"{one.module}.{one.name}"
