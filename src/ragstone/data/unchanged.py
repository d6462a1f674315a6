"""The files behind a data set, known without reading it: whether they are as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.core.fingerprint import digest_file
from ragstone.core.registry import find
from ragstone.core.user_code import is_ours
from ragstone.data.load import named_reader
from ragstone.errors import RagstoneError

_KEYS: Final = frozenset({"name", "path"})
"""Parameters of the data sets whose files are known: other ones can name further files."""
_BESIDE: Final = (".json", ".jsonl", ".csv", ".tsv", ".txt", ".trec", ".parquet", ".gz")
"""Ends of the names of files that a reader may read beside the file that it is given."""


def data_state(written: Any, folder: Path, store: Path) -> dict[str, Any] | None:
    """Return what decides a data set: its reader, its path and the digests of all files there.

    None if that is not known without reading the data set: it was made in Python, comes from the
    network, has your own reader or parts elsewhere, or has the store among its files.
    """
    if not isinstance(written, str | Path):
        return None
    try:
        named = named_reader(written, folder)
        reader = find("readers", named["name"], where="data", folder=folder)
    except (OSError, RagstoneError):
        return None
    if set(named) != _KEYS or not is_ours(reader):
        return None
    path = Path(named["path"]).absolute()
    if not path.exists() or path in (store.absolute(), *store.absolute().parents):
        return None
    digests = {place: digest_file(one) for place, one in _files(path)}
    return {**named, "path": str(path), "files": digests, "beside": _beside(path)}


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if path.is_file():
        yield path.name, path
        return
    for one in sorted(path.rglob("*")):
        place = one.relative_to(path)
        if one.is_file() and not any(part.startswith(".") for part in place.parts):
            yield place.as_posix(), one


def _beside(path: Path) -> Mapping[str, list[int]]:
    """Return the sizes and times of the data files beside a file."""
    if not path.is_file():
        return {}
    found = (one for one in sorted(path.parent.iterdir()) if one.name.endswith(_BESIDE))
    states = {one.name: one.stat() for one in found if one.is_file()}
    return {name: [state.st_size, state.st_mtime_ns] for name, state in states.items()}
