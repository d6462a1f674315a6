"""Texts from outside as a page shows them: escaped, without controls, each in its own direction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ragstone.core.screen_text import clusters

if TYPE_CHECKING:
    from jinja2 import Environment

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BLOCKS: Final = (
    *("li", "dd", "dt", "blockquote", "pre", "caption", "figcaption", "legend", "label"),
    *("option", "textarea", "input"),
)
"""Elements of one text. Paragraphs and headings are sentences of ours, unless they have a `dir`."""
CELLS: Final = ("td", "th")
_CUT: Final = "..."
_LEEWAY: Final = 5
"""Characters beyond the length that are rather shown than cut."""
_SETTLED: Final = re.compile(r'\sdir=|\sclass="num')
"""Attributes of an element with a direction, and of cells of numbers."""


def shown_controls(page: str) -> str:
    """Return a page with the codes of the characters that HTML forbids or that no reader sees."""
    return _CONTROLS.sub(lambda one: f"\\x{ord(one[0]):02x}", page)


def page_environment(packages: Sequence[str], tags: Sequence[str] = BLOCKS) -> Environment:
    """Return an environment with the templates of some packages; all texts are escaped.

    Each element of `tags` has `dir="auto"`: its text is aligned and ordered by its own script.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from jinja2.ext import Extension

    class OwnDirection(Extension):
        def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
            del name, filename
            return with_own_direction(source, tags)

    made = Environment(
        loader=ChoiceLoader([PackageLoader(one) for one in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=[OwnDirection],
    )
    made.filters["truncate"] = truncated
    return made


def truncated(text: str, length: int) -> str:
    """Return the beginning of a text that is longer, cut at a space or else at a whole cluster.

    >>> truncated("one two three four five", 12), truncated("日本語の長い文章です" * 2, 8)
    ('one two...', '日本語の長...')
    """
    if len(text) <= length + _LEEWAY:
        return text
    whole, kept = [], 0
    for cluster in clusters(text):
        kept += len(cluster)
        if kept > length - len(_CUT):
            break
        whole.append(cluster)
    return f"{''.join(whole).rsplit(' ', 1)[0]}{_CUT}"


def with_own_direction(source: str, tags: Sequence[str] = BLOCKS) -> str:
    """Return a template whose elements of some tags have `dir="auto"`, unless they have a `dir`.

    >>> with_own_direction('<li>{{ a }}</li><li dir="ltr"><b>x</b>')
    '<li dir="auto">{{ a }}</li><li dir="ltr"><b>x</b>'
    """
    inside = r"(?:\{%.*?%\}|\{\{.*?\}\}|[^>{]|\{(?![%{]))*"
    opening = re.compile(rf"<({'|'.join(tags)})(?=[\s>{{])({inside})>", re.DOTALL)
    return opening.sub(
        lambda tag: tag[0] if _SETTLED.search(tag[2]) else f'<{tag[1]} dir="auto"{tag[2]}>', source
    )
