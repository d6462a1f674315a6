"""The text of a folder, file by file, in blocks that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ragstone.data.readers.rows import has_end, json_rows, lines
from ragstone.errors import DatasetError

_PLAIN: Final = (".txt", ".text", ".md", ".csv", ".tsv")
_ROWS: Final = (".jsonl",)
_BLOCK_CHARACTERS: Final = 1_000_000
_TAIL_CHARACTERS: Final = 2_000
"""The end of a block that begins the next one, so that no phrase is cut."""


def text_files(folder: Path) -> list[Path]:
    """Return the files with text of a folder, or the file itself.

    Raises:
        DatasetError: there are none.
    """
    found = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    files = [path for path in found if path.is_file() and has_end(path, *_PLAIN, *_ROWS)]
    if not files:
        ends = ", ".join((*_PLAIN, *_ROWS))
        raise DatasetError(
            f"{folder} has no file with text: expected names that end with {ends}, plain or .gz; "
            "convert other formats to one of these",
            path=folder,
        )
    return files


def text_blocks(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line and the text of each block of a file.

    A row of JSON lines is a block: all its texts. A plain file is one block, or several if it is
    large. Bytes that are not UTF-8 are replaced.
    """
    if has_end(path, *_ROWS):
        for number, row in json_rows(path):
            yield number, "\n".join(value for value in row.values() if isinstance(value, str))
        return
    parts: list[str] = []
    first, size = 1, 0
    for number, line in lines(path):
        first = first if parts else number
        parts.append(line.decode("utf-8", "replace"))
        size += len(parts[-1])
        if size > _BLOCK_CHARACTERS:
            text = "".join(parts)
            yield first, text
            parts, size = [text[-_TAIL_CHARACTERS:]], 0
            first = number
    if parts:
        yield first, "".join(parts)
