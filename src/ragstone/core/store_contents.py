"""The contents of a store: experiments, folders that no record refers to, and set-aside files."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.atomic_files import abandoned, is_temporary
from ragstone.core.checksums import MANIFEST
from ragstone.core.store import DAMAGED, KEY_LENGTH, Store, store_errors
from ragstone.errors import DamagedFile, StoreError
from ragstone.types import one_line

FOLDERS: Final = ("steps", "arrays")
_NAME: Final = re.compile(rf"(?<![\w-])[\w-]+-[0-9a-f]{{{KEY_LENGTH}}}(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class StoredExperiment:
    """The record of an experiment in a store."""

    name: str
    started: str | None
    finished: str | None
    """None if no run of the experiment has finished."""
    steps: int
    """Number of step folders that the record refers to."""
    problem: str
    """Why the record cannot be read, or ""."""
    earlier: int = 0
    """Number of earlier finished records, whose steps are kept too."""
    counterfactuals: int = 0
    """Number of records of counterfactuals, whose steps are kept too."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A folder or file that nothing needs."""

    path: str
    """Relative to the store."""
    bytes: int
    days: float
    """Time since its last change."""


@dataclass(frozen=True)
class StoreContents:
    """The sizes, experiments and left-over folders of a store."""

    path: Path
    bytes: int
    calls_bytes: int
    """Size of the call log."""
    experiments: tuple[StoredExperiment, ...]
    orphans: tuple[Leftover, ...]
    """Step and array folders that no record refers to."""
    abandoned: tuple[Leftover, ...]
    """Temporary folders of killed processes."""
    set_aside: tuple[Leftover, ...]
    """Damaged files and folders."""

    __repr__ = one_line

    @classmethod
    def of(cls, store: Store, *, forgotten: Collection[Leftover] = ()) -> StoreContents:
        """Return the contents of a store; raise `StoreError` if there is no such folder.

        `forgotten` are earlier records that need no step any more.
        """
        root = store.root
        require_store(root)
        used = _used(root, {root / one.path for one in forgotten})
        found = [folder for kind in FOLDERS for folder in folders(root / kind)]
        seconds = limits.ABANDONED_STEP_SECONDS
        unfinished = [p for place in (root, *_folders(root)) for p in abandoned(place, seconds)]
        return cls(
            root,
            _bytes(root),
            sum(_bytes(path) for path in root.glob("calls.*")),
            tuple(_experiment(store, path) for path in documents(root, "experiments")),
            tuple(_leftover(root, folder) for folder in found if folder.name not in used),
            tuple(_leftover(root, path) for path in unfinished),
            tuple(_leftover(root, path) for path in sorted((root / DAMAGED).glob("*"))),
        )

    def prunable(self, days: float) -> list[Leftover]:
        """Return the files to remove: orphans older than `days`, abandoned and set-aside ones."""
        old = [orphan for orphan in self.orphans if orphan.days > days]
        return [*old, *self.abandoned, *self.set_aside]


def prune(root: Path, chosen: list[Leftover]) -> None:
    """Delete left-over files and folders of a store."""
    for one in chosen:
        path = root / one.path
        with store_errors(path):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def require_store(root: Path) -> None:
    """Raise `StoreError` if there is no folder of that name."""
    if not root.is_dir():
        raise StoreError(
            f"there is no store {root}; give the folder of a store: ragstone store PATH", path=root
        )


def documents(root: Path, kind: str = "*") -> Iterator[Path]:
    """Yield the documents of a store, such as records."""
    for path in sorted(root.glob(f"{kind}/*.json")):
        if path.parent.name not in (*FOLDERS, DAMAGED) and not is_temporary(path.parent):
            yield path


def folders(parent: Path) -> Iterator[Path]:
    """Yield the folders of finished steps or arrays."""
    for path in sorted(parent.glob("*")):
        if path.is_dir() and not is_temporary(path):
            yield path


def references(path: Path) -> dict[str, None]:
    """Return the folders that a document names, whether or not the document is damaged."""
    try:
        return dict.fromkeys(_NAME.findall(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return {}


def earlier_records(root: Path, days: float) -> list[Leftover]:
    """Return the records of earlier runs and of counterfactuals that are older than `days`."""
    kinds = ("history", "counterfactuals")
    found = [_leftover(root, path) for kind in kinds for path in documents(root, kind)]
    return [one for one in found if one.days > days]


def _used(root: Path, forgotten: Collection[Path] = ()) -> set[str]:
    """Return the step folders that a record names, and the arrays that these steps used.

    Earlier records count, so that a later comparison finds their scores. A damaged record counts,
    also one that was set aside: its next run needs the steps.
    """
    kinds = ("experiments", "attempts", "history", "counterfactuals")
    records = [path for kind in kinds for path in documents(root, kind)]
    records += [path for path in (root / DAMAGED).glob("*.json-*") if path.is_file()]
    steps = {name for path in records if path not in forgotten for name in references(path)}
    manifests = (root / "steps" / name / MANIFEST for name in steps)
    return steps.union(*(references(path) for path in manifests))


def _experiment(store: Store, path: Path) -> StoredExperiment:
    problem, record = "", dict[str, Any]()
    try:
        record = store.read_json(path.parent.name, path.stem) or {}
    except DamagedFile as error:
        problem, record = error.what, error.document or {}
    return StoredExperiment(
        path.stem,
        record.get("started"),
        record.get("finished"),
        len(references(path)),
        problem,
        sum(1 for _ in (store.root / "history").glob(f"{path.stem}@*.json")),
        sum(1 for _ in (store.root / "counterfactuals").glob(f"{path.stem}@*.json")),
    )


def _folders(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir()]


def _leftover(root: Path, path: Path) -> Leftover:
    days = (time.time() - path.stat().st_mtime) / 86400
    return Leftover(path.relative_to(root).as_posix(), _bytes(path), round(days, 3))


def _bytes(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
