"""Texts from outside as a page shows them: escaped, without controls, each in its own direction."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.screen_text import clusters

if TYPE_CHECKING:
    from jinja2 import Environment

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_JSON_CODES: Final = re.compile(r"\\(?:u00([01][0-9a-f])|([bfr])|.)|([\x7f-\x9f])")
"""The codes of JSON in their order, and the controls that JSON has as they are."""
_SHORT_CODES: Final = {"b": "08", "f": "0c", "r": "0d"}
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


def exact_json(value: Any, **options: Any) -> str:
    r"""Return JSON that `shown_controls` leaves as it is.

    >>> print(exact_json("a\x1b\x9b"))
    "a\u001b\u009b"
    """
    return _CONTROLS.sub(lambda one: f"\\u{ord(one[0]):04x}", json.dumps(value, **options))


def shown_json(value: Any, **options: Any) -> str:
    r"""Return JSON for a script that shows its texts: controls are codes in them.

    >>> print(json.loads(shown_json("a\x1b\r\x9b\\n")))
    a\x1b\x0d\x9b\n
    """
    return _JSON_CODES.sub(_shown_code, json.dumps(value, **options))


def _shown_code(found: re.Match[str]) -> str:
    number, short, control = found.groups()
    if number or short:
        return f"\\\\x{number or _SHORT_CODES[short]}"
    return f"\\\\x{ord(control):02x}" if control else found[0]


def page_environment(packages: Sequence[str], tags: Sequence[str] = BLOCKS) -> Environment:
    """Return an environment with the templates of some packages; all texts are escaped.

    Each element of `tags` has `dir="auto"`: its text is aligned and ordered by its own script.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from jinja2.ext import Extension
    from jinja2.utils import htmlsafe_json_dumps

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
    made.policies["json.dumps_function"] = exact_json
    made.filters["shown_json"] = lambda value: htmlsafe_json_dumps(
        value, shown_json, **made.policies["json.dumps_kwargs"]
    )
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
