"""Markdown of generated pages: texts, tables and links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_CODE: Final = re.compile(r"(`[^`]+`)")
_MARKS: Final = re.compile(r"([\\*_\[\]<|#])")
_DOCS_LINK: Final = re.compile(r"\bdocs/([\w-]+)\.md")


def escaped(text: str) -> str:
    r"""Return a text on one line whose characters are no Markdown; code in backquotes stays code.

    >>> print(escaped("a_b <c> and `d_e`"))
    a\_b \<c> and `d_e`
    """
    parts = _CODE.split(" ".join(text.split()))
    return "".join(
        part if number % 2 else _MARKS.sub(r"\\\1", part) for number, part in enumerate(parts)
    )


def linked(text: str, up: str) -> str:
    """Return an escaped text in which `docs/NAME.md` is a link; `up` leads to the site's root."""
    return _DOCS_LINK.sub(rf"[\1]({up}\1.md)", escaped(text))


def code(text: str) -> str:
    """Return a text as code, also within a cell of a table; "" stays empty."""
    shown = " ".join(text.split())
    if not shown:
        return ""
    fence = "``" if "`" in shown else "`"
    # A bar within code would end the cell of a table.
    return f"{fence}{shown}{fence}" if "|" not in shown else f"<code>{_html(shown)}</code>"


def _html(text: str) -> str:
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;")):
        text = text.replace(sign, name)
    return text


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or "" without a row."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *lines])


def page(*blocks: str) -> str:
    """Return blocks with an empty line between them; empty blocks are left out."""
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


def docstring(text: str, up: str = "") -> str:
    """Return a docstring's text as Markdown; its examples become blocks of code.

    The section `Args:` is left out: the parameters have a table.
    """
    text = re.sub(r"^Args:\n(?: .*\n?|\n(?= ))*", "", text, flags=re.MULTILINE)
    found = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith(">>> "):
            found.append(f"```pycon\n{block}\n```")
        elif "\n " in block or block.startswith(" "):
            found.append(f"```text\n{block}\n```")
        elif block.strip():
            found.append(_labelled(linked(block, up)))
    return "\n\n".join(found)


def _labelled(text: str) -> str:
    """Return a paragraph whose first word, such as `Formula:`, is bold."""
    return re.sub(r"^(Formula|Source|Trap): ", r"**\1.** ", text)


def anchor(name: str) -> str:
    """Return the anchor of a name, the same whatever makes anchors of headings.

    >>> anchor("F1"), anchor("F1@k"), anchor("gold+noise")
    ('f1', 'f1-at-k', 'gold-and-noise')
    """
    plain = name.lower().replace("@", "-at-").replace("+", "-and-")
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
