"""The store: one folder per finished step, named by everything that could change its result.

    store/
      steps/retrieve-1f0c9a.../table.parquet     the result
                               manifest.json      its inputs and settings; written last
      arrays/vectors-77ab02.../...                data derived from passages: vectors, indexes
      calls.sqlite                                every model reply (ragstone.calls)
      experiments/NAME.json                       the steps of an experiment's trials
      attempts/NAME.json                          a newer run of it that is not complete

A folder is written under a temporary name and then renamed, so a reader never sees an incomplete
step. If two processes finish the same step, one of the two equal results is stored.
"""

from __future__ import annotations

import datetime as dt
import errno
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.core import limits
from ragstone.core.atomic_files import atomic_file, atomic_folder, remove_abandoned
from ragstone.core.fingerprint import cache_key_parts, digest_table, fingerprint
from ragstone.core.step_notes import collect_notes
from ragstone.errors import StoreError
from ragstone.types import one_line
from ragstone.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arro3.core import Table

MANIFEST: Final = "manifest.json"
KEY_LENGTH: Final = 24
"""Hexadecimal digits of a key in a folder's name: 96 bits, no chance of a collision."""


@dataclass(frozen=True)
class StoredTable:
    """A table with its digest; a stored table is read at its first use."""

    digest: str
    folder: Path | None = None
    memory: Table | None = None

    __repr__ = one_line

    @classmethod
    def in_memory(cls, table: Table) -> StoredTable:
        """Return a table that is only in memory, such as a table of a data set."""
        return cls(digest_table(table), memory=table)

    @cached_property
    def table(self) -> Table:
        """The table itself."""
        if self.memory is not None:
            return self.memory
        if self.folder is None:
            raise StoreError("the table is neither in memory nor in a store")
        from arro3.io import read_parquet

        path = self.folder / "table.parquet"
        try:
            return read_parquet(str(path)).read_all()
        except BaseException as error:
            # A damaged file can make the Rust reader panic, which is not an `Exception`.
            if isinstance(error, Exception) or type(error).__name__ == "PanicException":
                raise _unreadable(path, error, self.folder) from error
            raise

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The record of the table's origin; empty for a table in memory."""
        return {} if self.folder is None else _read_json(self.folder / MANIFEST)


@dataclass(frozen=True)
class Store:
    """A folder of finished steps, safe for several processes at once."""

    root: Path

    __repr__ = one_line

    def get_or_compute(
        self,
        step: str,
        component: object,
        inputs: Mapping[str, StoredTable],
        compute: Callable[..., Table],
        *,
        facts: Callable[[], Mapping[str, Any]] | None = None,
    ) -> StoredTable:
        """Return the result of a step; compute it if it is not stored.

        Args:
            step: name of the step.
            component: the component, part of the key.
            inputs: name -> table, part of the key.
            compute: function of the component and of `inputs` as keyword arguments. It gets nothing
                that is not in the key.
            facts: returns more facts for the manifest, after the computation. `failed` is the
                number of failed rows: a result with failed rows is stored and computed again by the
                next call, which repeats only the failed model calls.
        """
        folder = self.folder(step, component, inputs)
        if (stored := self.find(step, component, inputs)) is not None:
            return stored
        self.check_writable()
        started = time.time()
        with collect_notes() as notes:
            table = compute(component, **{name: kept.table for name, kept in inputs.items()})
        manifest = {
            "step": step,
            **_made_of(component, inputs),
            "digest": digest_table(table),
            "rows": table.num_rows,
            "failed": 0,
            **({"notes": dict(notes)} if notes else {}),
            **(facts() if facts else {}),
            **_run_facts(started),
        }
        self._keep(folder, table, manifest)
        # Another process may have stored a complete result, or may replace one with failed rows.
        stored = self.find(step, component, inputs)
        return stored or StoredTable(str(manifest["digest"]), folder=folder, memory=table)

    def keep(self, step: str, table: Table) -> StoredTable:
        """Store a table that no component computed, such as a data set's queries."""
        digest = digest_table(table)
        folder = self.root / "steps" / f"{step}-{digest[:KEY_LENGTH]}"
        if not (folder / MANIFEST).exists():
            manifest = {"step": step, "digest": digest, "rows": table.num_rows, "failed": 0}
            self._keep(folder, table, manifest | _run_facts(time.time()))
        return StoredTable(digest, folder=folder)

    def find(
        self,
        step: str,
        component: object,
        inputs: Mapping[str, StoredTable],
        *,
        keep_failed: bool = False,
    ) -> StoredTable | None:
        """Return the stored result of a step; None if there is none.

        A result with failed rows counts as none unless `keep_failed` is true.
        """
        folder = self.folder(step, component, inputs)
        manifest = _find_manifest(folder)
        if manifest is None:
            return None
        if manifest["failed"] and not keep_failed:
            return None
        return StoredTable(manifest["digest"], folder=folder)

    def folder(self, step: str, component: object, inputs: Mapping[str, StoredTable]) -> Path:
        """Return the folder of a step's result, whether or not it exists."""
        key = fingerprint({"step": step, **_made_of(component, inputs)})
        return self.root / "steps" / f"{step}-{key[:KEY_LENGTH]}"

    def files(self, step: str, made_of: Mapping[str, Any], write: Callable[[Path], object]) -> Path:
        """Return the folder stored under `made_of` (plain data, components).

        If it does not exist, `write` is called with an empty folder for its files.
        """
        folder = self._files_folder(step, made_of)
        if not (folder / MANIFEST).exists():
            started = time.time()
            with self._new_folder(folder) as temporary:
                write(temporary)
                manifest = {"step": step, "made_of": fingerprint(made_of)}
                _write_manifest(temporary, manifest | _run_facts(started))
        return folder

    def kept_files(self, step: str, made_of: Mapping[str, Any]) -> Path | None:
        """Return the folder that `files` stored under `made_of`, or None."""
        folder = self._files_folder(step, made_of)
        return folder if (folder / MANIFEST).exists() else None

    def _files_folder(self, step: str, made_of: Mapping[str, Any]) -> Path:
        key = fingerprint({"step": step, **made_of})
        return self.root / "arrays" / f"{step}-{key[:KEY_LENGTH]}"

    def write_json(self, kind: str, name: str, value: Mapping[str, Any]) -> Path:
        """Write a small document, `kind/name.json`, and replace an earlier one."""
        path = self.root / kind / f"{name}.json"
        with store_errors(path), atomic_file(path) as file:
            file.write(json.dumps(value, indent=1, ensure_ascii=False).encode())
        return path

    def read_json(self, kind: str, name: str) -> dict[str, Any] | None:
        """Return the latest document of that name, or None."""
        path = self.root / kind / f"{name}.json"
        return _read_json(path, path) if path.exists() else None

    def remove_json(self, kind: str, name: str) -> None:
        """Remove the document of that name if there is one."""
        path = self.root / kind / f"{name}.json"
        if path.exists():
            with store_errors(path):
                path.unlink(missing_ok=True)

    def check_writable(self) -> None:
        """Raise `StoreError` if the store is not writable.

        Abandoned temporary folders of killed processes are removed too.
        """
        with store_errors(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.root):
                pass
            for folder in self.root.iterdir():
                remove_abandoned(folder, limits.ABANDONED_STEP_SECONDS)

    def _keep(self, folder: Path, table: Table, manifest: Mapping[str, Any]) -> None:
        from arro3.io import write_parquet

        with self._new_folder(folder) as temporary:
            write_parquet(table, str(temporary / "table.parquet"))
            _write_manifest(temporary, manifest)

    @contextmanager
    def _new_folder(self, folder: Path) -> Iterator[Path]:
        """Yield a temporary folder that becomes `folder`, unless another process was faster."""
        with store_errors(folder):
            try:
                with atomic_folder(folder, is_obsolete=_is_incomplete) as temporary:
                    yield temporary
            except OSError as error:
                taken = error.errno in (errno.ENOTEMPTY, errno.EEXIST)
                if not (taken and (folder / MANIFEST).exists()):
                    raise


def _is_incomplete(folder: Path) -> bool:
    manifest = _find_manifest(folder)
    return manifest is None or bool(manifest.get("failed"))


def _find_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder, or None if there is none at this moment."""
    try:
        return _read_json(folder / MANIFEST)
    except StoreError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def _made_of(component: object, inputs: Mapping[str, StoredTable]) -> dict[str, Any]:
    return {
        "made_by": cache_key_parts(component),
        "inputs": {name: kept.digest for name, kept in inputs.items()},
    }


def _run_facts(started: float) -> dict[str, Any]:
    return {
        "started": dt.datetime.fromtimestamp(started, dt.UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 3),
        "ragstone": __version__,
    }


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def _read_json(path: Path, damaged: Path | None = None) -> dict[str, Any]:
    """Return a document; an error says to remove `damaged`, by default the document's folder."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error, damaged or path.parent) from error
    return document


def _unreadable(path: Path, error: BaseException, damaged: Path) -> StoreError:
    return StoreError(
        f"cannot read {path}: {error}. Nothing else is affected; remove it and run again: "
        f"rm -r '{damaged}'"
    )


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn a full disk or a missing permission into a `StoreError`."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}. Everything finished before is kept; "
            f"make room or give another folder with store=PATH, and run the same command again"
        ) from error
