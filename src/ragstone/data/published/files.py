"""The published files of a data set: in a folder, or on the hub."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from ragstone.core import limits
from ragstone.core.fingerprint import digest_file
from ragstone.data.published.presets import Preset, TableForm
from ragstone.data.readers.hub import hub_errors, hub_files
from ragstone.data.readers.parquet import FolderFiles
from ragstone.data.readers.rows import listed
from ragstone.errors import DatasetError

_PACKED: Final = (".bz2", ".zip", ".tar", ".tgz", ".tar.gz")


@dataclass
class PublishedFiles:
    """Finds the files of the tables of a set, and remembers which ones were read."""

    preset: Preset
    path: Path | None
    """The folder or file with the published files; None for the hub."""
    revision: str = "main"
    commit: str = ""
    """The commit of the queries' repository on the hub."""
    read: dict[str, Path] = field(default_factory=dict)
    """Name -> path of the files that were read."""

    def of(self, form: TableForm, *, optional: bool = False) -> list[Path]:
        """Return the files of a table; [] if it is optional and absent.

        Raises:
            DatasetError: the files are absent; the error names those present and the source.
        """
        found = self._on_hub(form) if self.path is None else self._in_folder(form, self.path)
        if not found and not optional:
            raise DatasetError(self._absent(form))
        self.read.update(found)
        return list(found.values())

    def _in_folder(self, form: TableForm, path: Path) -> dict[str, Path]:
        if path.is_file():
            if form is self.preset.queries:
                return {path.name: path}
            path = path.parent
        files = FolderFiles(path)
        patterns = (*form.files, *(form.hub.files if form.hub else ()))
        return {name: files.path(name) for name in first_matching(files.names(), patterns)}

    def _on_hub(self, form: TableForm) -> dict[str, Path]:
        place = form.hub
        if place is None:
            return {}
        main = self.preset.queries.hub
        is_main = main is not None and place.repo == main.repo
        revision = self.revision if is_main else "main"
        with hub_errors(place.repo, revision):
            files = hub_files(place.repo, revision)
            self.commit = files.folder.name if is_main else self.commit
            found = first_matching(files.names(), place.files)
            return {name: files.path(name) for name in found}

    def _absent(self, form: TableForm) -> str:
        preset = self.preset
        here = f"{{name: {preset.name}, path: FOLDER}}"
        on_hub = form.hub.files if form.hub else ()
        wanted = " or ".join(form.files or on_hub)
        if self.path is None:
            where = form.hub.repo if form.hub else "the hub"
            missing = " or ".join(on_hub) or wanted
            return (
                f"{preset.name}: {where} has no file {missing} that Ragstone knows; get {wanted} "
                f"from {preset.address} and write {here}"
            )
        there = FolderFiles(self.path).names() if self.path.is_dir() else []
        packed = [name for name in there if name.endswith(_PACKED)]
        hint = f"; unpack {packed[0]} first" if packed else ""
        shown = listed(there, limits.MAX_LISTED_FILES) or "nothing"
        return (
            f"{preset.name}: {self.path} has no file {wanted}; found {shown}{hint}; the published "
            f"files are at {preset.address}"
        )

    def digests(self) -> dict[str, str]:
        """Return name -> SHA-256 of the files that were read."""
        return {name: digest_file(path) for name, path in sorted(self.read.items())}


def digest_of(digests: dict[str, str]) -> str:
    """Return the digest of a set: that of its only file, or of the lines of `sha256sum`."""
    if len(digests) == 1:
        return next(iter(digests.values()))
    lines = [f"{digest}  {name}\n" for name, digest in sorted(digests.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def first_matching(names: Sequence[str], patterns: Iterable[str]) -> list[str]:
    """Return the files of the first pattern that matches any, those nearest to the top folder.

    A pattern without a folder matches in every folder; each file may be gzipped.

    >>> first_matching(["a/x-dev.jsonl", "x.txt"], ["dev.jsonl", "x-dev.jsonl"])
    ['a/x-dev.jsonl']
    """
    for pattern in patterns:
        found = [name for name in names if _matches(name, pattern)]
        if found:
            top = min(name.count("/") for name in found)
            nearest = [name for name in found if name.count("/") == top]
            folders = {name.rpartition("/")[0] for name in nearest}
            if len(folders) > 1:
                raise DatasetError(
                    f"{pattern} is in several folders: {listed(nearest)}; name one of the folders"
                )
            return nearest
    return []


def _matches(name: str, pattern: str) -> bool:
    plain = name.removesuffix(".gz")
    return any(fnmatch(plain, one) for one in _spellings(pattern))


def _spellings(pattern: str) -> Iterator[str]:
    yield pattern
    yield f"*/{pattern}"
