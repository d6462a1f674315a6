"""Rows of a sheet of an Excel file, as tables of questions are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.core.regular_files import open_regular
from ragstone.data.documents.formats import FileParser
from ragstone.data.readers.rows import Row, listed
from ragstone.errors import ConfigError, DatasetError, did_you_mean

if TYPE_CHECKING:
    from anydoc import Block

EXCEL_END: Final = ".xlsx"
_FIRST: Final = "the first sheet"


def excel_rows(path: Path, sheet: str = "") -> Iterator[tuple[int, Row]]:
    """Yield number and cells of each row of a sheet, whose first row names the columns.

    A cell has the text that Excel shows; an empty one is null.

    Args:
        path: the file.
        sheet: name of the sheet; "" is the only one that has rows.

    Raises:
        DatasetError: the file or its first row is malformed.
        ConfigError: there is no such sheet, or several and none is named.
        MissingDependency: the package that reads Excel files is not installed.
    """
    found = {name: rows for name, rows in _sheets(path).items() if rows}
    if sheet and sheet not in found:
        raise ConfigError(f"{path} has no sheet {sheet!r} with rows{did_you_mean(sheet, found)}")
    if len(found) > 1 and not sheet:
        raise ConfigError(
            f"{path} has {len(found)} sheets with rows: {listed(list(found))}; name one, for "
            f"example data: {{path: {path.name}, sheet: {next(iter(found))}}} (in a command: "
            f"'table({path.name}, sheet={next(iter(found))})'), or keep one"
        )
    rows = found.get(sheet or next(iter(found), ""), [])
    header = rows[0] if rows else []
    if not all(header) or len(set(header)) < len(header):
        raise DatasetError(
            f"{path}: the first row must name each column once, found {listed(header)}", path=path
        )
    for number, cells in enumerate(rows[1:], start=2):
        if any(cells):
            yield number, Row(zip(header, (cell or None for cell in cells), strict=False))


def _sheets(path: Path) -> dict[str, list[list[str]]]:
    """Return name -> rows of each sheet; a single sheet has a name of ours."""
    FileParser(EXCEL_END).require()
    import anydoc

    with open_regular(path) as file:
        content = file.read(limits.MAX_PARSED_FILE_BYTES + 1)
    if len(content) > limits.MAX_PARSED_FILE_BYTES:
        problem = f"it has more than {limits.MAX_PARSED_FILE_BYTES:,} bytes"
        raise DatasetError(f"cannot read {path}: {problem}; save the sheet as CSV", path=path)
    try:
        blocks = anydoc.to_document(content, "xlsx").blocks
    except anydoc.ConvertError as error:
        raise DatasetError(f"cannot read {path}: {error}", path=path) from error
    found, name = dict[str, list[list[str]]](), _FIRST
    for block in blocks:
        if block.kind == "heading":
            name = _text(block)
        elif block.table:
            rows = [
                [
                    "\n".join(map(_text, slot.cell.blocks)).strip() if slot.cell else ""
                    for slot in row
                ]
                for row in block.table.grid
            ]
            found.setdefault(name, []).extend(rows)
    return found


def _text(block: Block) -> str:
    return "".join(span.text or "" for span in block.content or ())
