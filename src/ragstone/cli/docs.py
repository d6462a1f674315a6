"""`ragstone docs`: the pages of the documentation in the terminal, without a network."""

from __future__ import annotations

import difflib
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import click

from ragstone.cli.options import json_option, print_result
from ragstone.errors import ConfigError

_HEADING: Final = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_CODE: Final = re.compile(r"^(```.*?^```[^\n]*\n)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
_COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)


@click.command("docs")
@click.argument(
    "topic",
    required=False,
    metavar="[PAGE[#SECTION]]",
    shell_complete=lambda _, __, begun: _completed(begun),
)
@json_option
def command(topic: str | None) -> None:
    """Print a page of the documentation, or the list of all pages.

    \b
    Examples:
      ragstone docs                      the pages, with their titles
      ragstone docs metrics              a page
      ragstone docs data#limits          a section of a page
      ragstone docs statistics | less
    """
    if topic is None:
        print_result(lambda: [*map(_entry, pages())], _list)
        return
    name, _, anchor = topic.partition("#")
    page = _found(name)
    text = _section(page, anchor) if anchor else _text(page)
    print_result(lambda: {**_entry(page), "section": anchor, "text": text}, lambda: _plain(text))


def _completed(begun: str) -> list[str]:
    return [page for page in pages() if page.startswith(begun)]


def folder() -> Path:
    """Return the folder of the pages: in the package, or in the repository it runs from."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "docs"
    return installed if installed.is_dir() else package.parents[1] / "docs"


@cache
def pages() -> tuple[str, ...]:
    """Return the names of the pages, such as `metrics` and `tutorials/my-api`."""
    top = folder()
    found = (path.relative_to(top).with_suffix("").as_posix() for path in top.rglob("*.md"))
    return tuple(sorted(found, key=lambda name: (name.count("/"), name)))


def _text(page: str) -> str:
    return (folder() / f"{page}.md").read_text("utf-8")


def _entry(page: str) -> dict[str, Any]:
    heading = _HEADING.search(_text(page))
    return {"page": page, "title": heading[2] if heading else page}


def _list() -> str:
    entries = [*map(_entry, pages())]
    width = max(len(entry["page"]) for entry in entries)
    lines = [f"{entry['page']:<{width}}  {_inline(entry['title'])}" for entry in entries]
    return "\n".join([*lines, "", "A page: ragstone docs PAGE"])


def _found(name: str) -> str:
    """Return the page with a name; raise `ConfigError` with the nearest pages if there is none."""
    name = name.removeprefix("docs/").removesuffix(".md")
    if name in pages():
        return name
    short = {page.rpartition("/")[2]: page for page in reversed(pages())}
    if name in short:
        return short[name]
    close = [short[one] for one in difflib.get_close_matches(name.lower(), short, n=3)]
    about = [page for page in pages() if name.lower() in " ".join(_headings(page)).lower()]
    nearest = list(dict.fromkeys([*close, *about]))[:5]
    hint = f"the nearest are {', '.join(nearest)}; " if nearest else ""
    raise ConfigError(
        f"the documentation has no page {name!r}: {hint}all pages: ragstone docs",
        value=name,
        way_out="ragstone docs",
    )


def _headings(page: str) -> list[str]:
    return [title for _, title in _HEADING.findall(_CODE.sub("", _text(page)))]


def _section(page: str, anchor: str) -> str:
    """Return a section with those below it; raise `ConfigError` if the page does not have it."""
    text = _text(page)
    headings = [one for one in _HEADING.finditer(text) if not _in_code(text, one.start())]
    for number, heading in enumerate(headings):
        if _anchor(heading[2]) == anchor:
            later = headings[number + 1 :]
            end = (one.start() for one in later if len(one[1]) <= len(heading[1]))
            return text[heading.start() : next(end, len(text))]
    known = ", ".join(_anchor(one[2]) for one in headings)
    raise ConfigError(f"the page {page} has no section {anchor!r}: {known}", value=anchor)


def _in_code(text: str, place: int) -> bool:
    return text.count("\n```", 0, place) % 2 == 1


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def _plain(text: str) -> str:
    """Return Markdown as a terminal shows it: code as it is, links as their text and page."""
    parts = _CODE.split(_COMMENT.sub("", text))
    return "".join(
        re.sub(r"^```.*\n", "", part, flags=re.MULTILINE) if number % 2 else _inline(part)
        for number, part in enumerate(parts)
    ).strip("\n")


def _inline(text: str) -> str:
    """Return a text without marks of emphasis and addresses of pages."""
    text = _LINK.sub(_link, text)
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", text, flags=re.DOTALL)
    return _HEADING.sub(lambda found: found[2].upper() if found[1] == "#" else found[0], text)


def _link(found: re.Match[str]) -> str:
    label, target = found[1], found[2]
    if found[0].startswith("!"):
        return f"(picture: {label})"
    if target.startswith("http"):
        return f"{label} ({target})"
    page, _, anchor = target.partition("#")
    name = page.removesuffix(".md") if page.endswith(".md") and ".." not in page else ""
    place = f"{name}#{anchor}" if anchor and name else name
    return f"{label} (ragstone docs {place})" if place and place != label else label
