"""Checking a whole store: every document, table and array, and the steps of every record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.core.checksums import file_digests, read_document, read_manifest, verify_files
from ragstone.core.progress import track
from ragstone.core.store import Store
from ragstone.core.store_contents import (
    FOLDERS,
    documents,
    folders,
    references,
    require_store,
)
from ragstone.errors import DamagedFile
from ragstone.types import one_line

_RECORDS: Final = {
    "experiments": "experiment",
    "history": "earlier record",
    "counterfactuals": "counterfactual",
}
"""Kind of a record -> its noun in messages."""
FindDamage = Callable[[Path], Iterable[DamagedFile]]


@dataclass(frozen=True, slots=True)
class Damage:
    """A file or folder of a store that is damaged, missing or without a checksum."""

    path: str
    """Relative to the store."""
    what: str
    repaired: bool
    """Whether it was set aside, so that the next run makes it again."""
    earlier_version: bool = False
    """Whether it is of a version that wrote no checksum, so that it cannot be checked."""


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """The result of a check."""

    checked: int
    """Number of files."""
    damaged: tuple[Damage, ...]

    __repr__ = one_line

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged, or all damage was repaired."""
        return all(one.repaired for one in self.damaged)


def check_store(
    store: Store, *, repair: bool = False, arrays: Mapping[str, FindDamage] | None = None
) -> StoreCheck:
    """Return the damage of a store, its call log apart.

    Args:
        store: the store.
        repair: set damaged folders and documents aside. The next run of the experiment makes them
            again from the other steps and from kept replies.
        arrays: step of an array folder -> function that finds damage in files which are not in its
            manifest.
    """
    require_store(store.root)
    missing = list(_missing(store))
    checked, damaged = 0, list[Damage]()
    places = [*documents(store.root), *(f for kind in FOLDERS for f in folders(store.root / kind))]
    for place in track(places, "Checking the store", len(places)):
        if place.is_file():
            found, count = _document_damage(place, store), 1
        else:
            more = (arrays or {}).get(place.name.rpartition("-")[0])
            found, count = _folder_damage(place, more)
        checked += count
        damaged += [_damage(error, store, repaired=repair) for error in found]
        if found and repair:
            store.set_aside(place)
    return StoreCheck(checked, (*damaged, *(_lost(*one, repaired=repair) for one in missing)))


def _document_damage(path: Path, store: Store) -> list[DamagedFile]:
    try:
        read_document(path, store.root)
    except DamagedFile as error:
        return [error]
    return []


def _folder_damage(folder: Path, more: FindDamage | None) -> tuple[list[DamagedFile], int]:
    """Return the damage of a folder, and the number of its files that were checked."""
    try:
        manifest = read_manifest(folder)
        verify_files(folder, manifest)
    except DamagedFile as error:
        return [error], 1
    found = list(more(folder)) if more else []
    return found, 1 + len(file_digests(manifest)) + (len(list(folder.iterdir())) - 1 if more else 0)


def _missing(store: Store) -> Iterator[tuple[str, Path]]:
    """Yield each missing step folder that a record refers to, with the record."""
    named = dict.fromkeys(folder.name for folder in folders(store.root / "steps"))
    for path in documents(store.root):
        if path.parent.name in _RECORDS:
            for name in references(path):
                if name not in named:
                    named[name] = None
                    yield name, path


def _lost(name: str, record: Path, *, repaired: bool) -> Damage:
    kind = _RECORDS[record.parent.name]
    what = f"it is missing; the {kind} {record.stem!r} refers to it"
    if kind == "earlier record":
        return Damage(f"steps/{name}", f"{what}, whose results are lost", repaired)
    return Damage(f"steps/{name}", f"{what}, and its next run makes it again", repaired)


def _damage(error: DamagedFile, store: Store, *, repaired: bool) -> Damage:
    path = error.path.relative_to(store.root).as_posix()
    return Damage(path, error.what, repaired, earlier_version=error.document is not None)
