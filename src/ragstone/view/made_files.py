"""Files that the buttons of pages make of a list: tables for a spreadsheet, and named folders."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.view.store_view import StoreView
from ragstone.web.errors import PageError, StateText

DATA_SETS: Final = "data"
"""The folder of a store with the data sets that buttons made."""
ANNOTATION: Final = "annotation"
"""The folder of a store with the annotation projects that buttons made."""
_NAME: Final = re.compile(r"[A-Za-z0-9][\w-]{0,79}", re.ASCII)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet takes for a formula."""


def csv_bytes(header: Sequence[str], found: Iterable[Sequence[Any]]) -> bytes:
    r"""Return a table as CSV; a text that a spreadsheet would compute gets an apostrophe.

    >>> csv_bytes(["a", "b"], [["=1+1", ["x"]], [None, 0.5]]).decode().split()
    ['a,b', '\'=1+1,"[""x""]"', ',0.5']
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([_cell(one) for one in header])
    writer.writerows([_cell(one) for one in row] for row in found)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        return orjson.dumps(value).decode()
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def new_folder(view: StoreView, kind: str, written: str, back: str) -> tuple[str, Path]:
    """Return the name and the path of a folder that a button will make.

    Raises `PageError`, with a link to the page `back`, for a name that is not possible or in use.
    """
    name = written.strip()
    if not _NAME.fullmatch(name):
        then = "A name has letters, digits, - and _, and at most 80 of them."
        state = StateText(f"The name {name!r} is not possible.", then, link=back, link_text="Back")
        raise PageError(400, state)
    folder = view.root / kind / name
    if folder.exists():
        said, then = f"{folder} already exists.", "Nothing was written. Choose another name."
        raise PageError(409, StateText(said, then, link=back, link_text="Back"))
    return name, folder
