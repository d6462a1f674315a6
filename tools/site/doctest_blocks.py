"""For mkdocstrings: the doctests of docstrings are blocks of code. An extension of griffe."""

from __future__ import annotations

import re
from typing import Any, Final

import griffe

_DOCTEST: Final = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.MULTILINE)


class DoctestBlocks(griffe.Extension):
    """Puts fences around the doctests of every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    r"""Return a docstring's text with fences around its doctests.

    >>> fenced("Return one.").count("pycon"), fenced("One.\n\n>>> 1\n1").count("pycon")
    (0, 1)
    """
    return _DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
