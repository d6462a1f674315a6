"""The files of a folder, of a pattern, or one file: which are documents, and which are not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from ragstone.core import limits
from ragstone.core.regular_files import is_there
from ragstone.data.documents.formats import SUFFIXES
from ragstone.data.readers.rows import listed
from ragstone.errors import DatasetError

_PATTERN: Final = re.compile(r"[*?\[]")
_IGNORED: Final = (".", "~$", "__MACOSX")
"""Beginnings of names that a system or an office program gives to files of its own."""


@dataclass(frozen=True)
class FoundFiles:
    """The documents at a place, in the order of their names, and counts of other files."""

    documents: dict[str, Path]
    """Name below the folder, with `/` between its parts -> file."""
    unknown: Counter[str]
    """End of the name -> number of files that no parser reads."""


def find_files(written: str, left_out: Collection[Path] = ()) -> FoundFiles:
    """Return the files of a folder at any depth, of a pattern such as `docs/**/*.pdf`, or one.

    Hidden files are left out.

    Args:
        written: the path or pattern.
        left_out: files that are not documents, such as the questions.

    Raises:
        DatasetError: there is no such file, or none is a document.
    """
    path = Path(written).expanduser()
    found: Iterator[Path]
    if path.is_dir():
        base, found = path, path.rglob("*")
    elif path.exists() or path.is_symlink() or not is_pattern(written):
        base, found = path.parent, iter([path])
    else:
        base, found = _split(path)[0], matching(path)
    if not is_pattern(written) and not (path.exists() or path.is_symlink()):
        raise DatasetError(f"there is no file or folder {written} with documents", path=path)
    excluded = {one.resolve() for one in left_out}
    names = {
        name: file
        for file in found
        if is_there(file) and file.resolve() not in excluded
        if not _is_ignored(name := file.relative_to(base).as_posix())
    }
    documents = {name: names[name] for name in sorted(names) if _suffix(name) in SUFFIXES}
    unknown = Counter(_suffix(name) or "no ending" for name in names.keys() - documents.keys())
    if not documents:
        there = f"; found {count_text(unknown)}" if unknown else ""
        raise DatasetError(f"{written} contains no document: known are {known_text()}{there}")
    return FoundFiles(documents, unknown)


def is_pattern(written: str) -> bool:
    """Return whether a path has a wildcard."""
    return bool(_PATTERN.search(written))


def matching(pattern: Path) -> Iterator[Path]:
    """Yield the matches of a pattern such as `docs/**/*.pdf`."""
    base, below = _split(pattern)
    return base.glob(below)


def count_text(counts: Counter[str]) -> str:
    """Return counts as text, the most frequent first.

    >>> count_text(Counter({".png": 3, ".zip": 1}))
    '3 .png, 1 .zip'
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return listed([f"{count:,} {name}" for name, count in ordered], limits.MAX_LISTED_FILES)


def known_text() -> str:
    """Return the ends of names that are read."""
    return ", ".join(SUFFIXES)


def _split(path: Path) -> tuple[Path, str]:
    """Return the folder above the first part with a wildcard, and the pattern below it."""
    parts = path.parts
    first = next(n for n, part in enumerate(parts) if _PATTERN.search(part))
    return Path(*parts[:first]), str(PurePosixPath(*parts[first:]))


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _is_ignored(name: str) -> bool:
    parts: Iterable[str] = name.split("/")
    return any(part.startswith(_IGNORED) for part in parts)
