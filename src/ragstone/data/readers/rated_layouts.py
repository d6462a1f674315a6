"""Sources of people's ratings: JSON lines of ratings, and published layouts, known by content."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson

from ragstone.core.regular_files import is_there
from ragstone.data.readers.graded_answers import (
    NQ_GRADES,
    read_begin,
    read_nq_open,
    read_ragchecker,
    read_truthfulqa,
)
from ragstone.data.readers.rated_inspection import read_inspections
from ragstone.data.readers.rated_set import RatedSet, check_scale, joined_sets
from ragstone.data.readers.ratings import check_unique, read_ratings
from ragstone.data.readers.rows import has_end, opened, without_marks
from ragstone.errors import ConfigError, DatasetError, did_you_mean

RATINGS: Final = "ratings"
"""The layout of JSON lines of ratings."""
_HEAD: Final = 1 << 20
"""Bytes of a file that decide its layout."""
_COLUMNS: Final[Mapping[str, frozenset[str]]] = {
    "truthfulqa": frozenset({"question", "correct_answers", "model_answer", "truthfulness"}),
    "begin": frozenset({"knowledge", "message", "response", "begin_label"}),
}
"""Layout -> columns of its tables."""
_HUMAN: Final = re.compile(rb'"author"\s*:\s*"human"')
_ENDS: Final = (".jsonl", ".json", ".csv", ".tsv", ".txt")
"""Ends of the names of files that a folder is searched for, to its second level."""


def _read_form(paths: Sequence[Path], *, short: bool = False) -> RatedSet:
    return joined_sets(
        [RatedSet(path.name, tuple(read_ratings(path, short=short))) for path in paths]
    )


LAYOUTS: Final[Mapping[str, Callable[[Sequence[Path]], RatedSet]]] = {
    RATINGS: _read_form,
    "truthfulqa": read_truthfulqa,
    "ragchecker": read_ragchecker,
    "begin": read_begin,
    "nq_open": read_nq_open,
    "mtrag": read_inspections,
}
"""Layout -> reader of its files."""


def read_rated(written: str | Path, *, language: str = "", short: bool = False) -> RatedSet:
    """Return the ratings of a source.

    Args:
        written: a file, a folder, or `layout:path`. Without a layout, files are known by their
            fields, whatever their names are.
        language: of several files of truthfulqa in a folder, the one with `.en.`, `.es.`, ... in
            its name (default: en).
        short: whether JSON lines may have the short form of labels.

    Raises:
        ConfigError: the layout is unknown.
        DatasetError: a file is missing or malformed, has no ratings, has a rating outside of the
            scale that it declares, or two ratings of one rater for an item.
    """
    name, path = _named(str(written))
    files: Sequence[Path] = _files(path, name)
    if not name:
        name, files = _layout(path, files)
    if name == "truthfulqa":
        files = _of_language(path, files, language)
    elif language:
        raise ConfigError(f"{name} does not have the option language")
    try:
        found = _read_form(files, short=short) if name == RATINGS else LAYOUTS[name](files)
    except (KeyError, ValueError, IndexError, TypeError, csv.Error) as error:
        raise DatasetError(f"{path} does not have the layout {name}: {error!r}") from error
    check_unique(found.ratings)
    for rating, scale in found.scales.items():
        check_scale((one for one in found.ratings if one.property == rating), scale)
    return found


def _named(written: str) -> tuple[str, Path]:
    """Return the layout and the path of a source; the layout is "" if it is not named."""
    name, colon, path = written.partition(":")
    if not colon or is_there(Path(written)):
        return "", Path(written)
    if name not in LAYOUTS:
        raise ConfigError(f"unknown layout {name!r}{did_you_mean(name, LAYOUTS)}")
    return name, Path(path)


def _files(path: Path, name: str) -> list[Path]:
    """Return the file, or the files of a folder that have the layout."""
    if not path.is_dir():
        return [path]
    inner = (one for depth in ("*", "*/*") for one in sorted(path.glob(depth)))
    files = [one for one in inner if has_end(one, *_ENDS) and one.is_file()]
    if not name:
        return files
    found = [one for one in files if layout_of(one) == name]
    if not found:
        raise DatasetError(f"{path} has no file of the layout {name}", path=path)
    return found


def _layout(path: Path, files: Sequence[Path]) -> tuple[str, list[Path]]:
    """Return the one layout of the files, and those that have it."""
    found: dict[str, list[Path]] = {}
    alone = not path.is_dir()
    for one in files:
        if name := layout_of(one) or (_meant(one) if alone else ""):
            found.setdefault(name, []).append(one)
    if not found:
        known = ", ".join(LAYOUTS)
        raise DatasetError(f"{path} has no ratings in one of the known layouts: {known}", path=path)
    if len(found) > 1:
        raise DatasetError(
            f"{path} has the layouts {', '.join(found)}; name one, for example "
            f"{next(iter(found))}:{path}",
            path=path,
        )
    return next(iter(found.items()))


def _meant(path: Path) -> str:
    """Return the layout whose reader explains best why a file cannot be read."""
    ends = {"mtrag": ".json", RATINGS: ".jsonl"}
    return next((name for name, end in ends.items() if has_end(path, end)), "")


def _of_language(path: Path, files: Sequence[Path], language: str) -> Sequence[Path]:
    if len(files) == 1 and not language:
        return files
    found = [one for one in files if f".{language or 'en'}." in one.name]
    if len(found) != 1:
        names = ", ".join(one.name for one in files)
        raise DatasetError(
            f"{path} has no single file of the language {language or 'en'}: {names}; name one file"
        )
    return found


def layout_of(path: Path) -> str:
    """Return the layout that the fields of a file show, or "" for another file."""
    with opened(path) as file:
        head = without_marks(file.read(_HEAD))
    text = head.lstrip()
    if text.startswith(b"["):
        is_pair = b'"model1"' in head and b'_label"' in head and b'"ragchecker"' not in head
        return "ragchecker" if is_pair else ""
    if text.startswith(b"{"):
        return _of_object(text)
    columns = _columns(head)
    return next((name for name, wanted in _COLUMNS.items() if wanted <= columns), "")


def _of_object(text: bytes) -> str:
    """Return the layout of JSON lines or of a document, by its first row or its beginning."""
    try:
        row = orjson.loads(text.partition(b"\n")[0])
    except orjson.JSONDecodeError:
        row = {}
    if not isinstance(row, dict):
        return ""
    if {"query_id", "value"} <= row.keys() or {"rater", "property"} <= row.keys():
        return RATINGS
    if row.keys() & NQ_GRADES.keys() or row.keys() == {"question", "answer"}:
        return "nq_open"
    return "mtrag" if b'"models"' in text and _HUMAN.search(text) else ""


def _columns(head: bytes) -> set[str]:
    line = head.partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    found: set[str] = set()
    for delimiter in "\t,":
        found |= set(line.split(delimiter))
    return found
