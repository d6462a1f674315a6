"""The store: one folder per finished step, named by everything that could change its result.

    store/
      steps/retrieve-1f0c9a.../table.parquet     the result
                               manifest.json      its inputs and settings; written last
      arrays/vectors-77ab02.../...                data derived from passages: vectors, indexes
      calls.sqlite                                every model reply (ragstone.calls)
      experiments/NAME.json                       the steps of an experiment's trials
      probes/ID.json                              the results of a probe of a judge
      attempts/NAME.json                          a newer run of it that is not complete
      revealed/NAME.json                          when its secrets were revealed
      damaged/NAME-1                              a damaged folder or file that was set aside

A folder is written under a temporary name and then renamed, so a reader never sees an incomplete
step. If two processes finish the same step, one of the two equal results is stored. Whatever is
read is verified: a damaged result counts as absent, and is set aside when it is computed again.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import logging
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.core import limits
from ragstone.core.atomic_files import (
    atomic_file,
    atomic_folder,
    keep_names,
    make_folder,
    remove_abandoned,
)
from ragstone.core.checksums import (
    MANIFEST,
    TABLE,
    digest_once,
    read_document,
    read_manifest,
    seal,
    verify_files,
)
from ragstone.core.fingerprint import (
    cache_key_parts,
    digest_table,
    fingerprint,
    sources,
    without_sources,
)
from ragstone.core.freed_memory import give_back
from ragstone.core.object_urls import object_url
from ragstone.core.parquet_blocks import raised_as_it_is, write_blocks
from ragstone.core.redaction import redacted_data
from ragstone.core.result_digest import digest_result_file
from ragstone.core.step_notes import collect_arrays, collect_facts, collect_notes, use_arrays
from ragstone.core.stored_table import StoredTable
from ragstone.core.times import utc_text
from ragstone.core.user_code import packages_of
from ragstone.errors import DamagedFile, StoreError, system_reason
from ragstone.types import one_line
from ragstone.version import __version__

if TYPE_CHECKING:
    from arro3.core import Table

_LOG: Final = logging.getLogger(__name__)
DAMAGED: Final = "damaged"
"""Folder of the folders and files that were set aside."""
KEY_LENGTH: Final = 24
"""Hexadecimal digits of a key in a folder's name: 96 bits, no chance of a collision."""
SOURCE_LENGTH: Final = 12
"""Hexadecimal digits of a digest of code that people read."""


@dataclass(frozen=True)
class Store:
    """A folder of finished steps, safe for several processes at once."""

    root: Path
    """The folder, made at the first write."""
    trust_code: bool = False
    """Whether a result of other code is found if there is none of this code."""

    __repr__ = one_line

    def __post_init__(self) -> None:
        """Refuse an object store, which has neither renames of folders nor locks."""
        if url := object_url(self.root):
            raise StoreError(
                f"a store cannot be at {url}: object stores have neither locks nor renames of "
                "folders, on which its safety rests; use a folder of this machine or of a network "
                "disk, and copy what `ragstone export` writes",
                value=url,
            )

    @property
    def call_log(self) -> Path:
        """The file of the model replies."""
        return self.root / "calls.sqlite"

    def get_or_compute(
        self,
        step: str,
        component: object,
        inputs: Mapping[str, StoredTable],
        compute: Callable[..., Table | Iterator[Table]],
        *,
        facts: Callable[[], Mapping[str, Any]] | None = None,
    ) -> StoredTable:
        """Return the result of a step; compute it if it is not stored.

        Args:
            step: name of the step.
            component: the component, part of the key.
            inputs: name -> table, part of the key.
            compute: function of the component and of `inputs` as keyword arguments. It gets nothing
                that is not in the key. It returns a table, or yields a table in blocks, of which
                one at a time is in memory.
            facts: returns more facts for the manifest, after the computation. `failed` is the
                number of failed rows: a result with failed rows is stored and computed again by the
                next call, which repeats only the failed model calls.
        """
        folder = self.folder(step, component, inputs)
        if (stored := self.find(step, component, inputs)) is not None:
            return stored
        self.check_writable()
        started = time.time()
        with collect_notes() as notes, collect_arrays() as arrays, collect_facts() as found:
            made = compute(component, **inputs)
            blocks = made if isinstance(made, Iterator) else iter([made])
            begun = list(itertools.islice(blocks, 2))
            with raised_as_it_is(), self._new_folder(folder) as temporary:
                manifest = {
                    "step": step,
                    **(made_of := _made_of(component, inputs)),
                    **_code_facts(made_of["made_by"]),
                    **_write_table(itertools.chain(begun, blocks), temporary),
                    "failed": 0,
                    **({"notes": dict(notes)} if notes else {}),
                    **({"arrays": list(arrays)} if arrays else {}),
                    **found,
                    **(facts() if facts else {}),
                    **_run_facts(started),
                }
                self._write_manifest(folder, temporary, manifest)
        # Another process may have stored a complete result, or may replace one with failed rows.
        stored = self.find(step, component, inputs)
        memory = begun[0] if len(begun) == 1 else None
        return stored or StoredTable(str(manifest["digest"]), folder=folder, memory=memory)

    def keep(self, step: str, table: Table, digest: str = "") -> StoredTable:
        """Store a table that no component computed, such as a data set's queries, under `step`.

        `digest` is that of the table if it is known.
        """
        digest = digest or digest_table(table)
        folder = self.root / "steps" / f"{step}-{digest[:KEY_LENGTH]}"
        if self._sound(folder) is None:
            started = time.time()
            with self._new_folder(folder) as temporary:
                written = _write_table([table], temporary, digest)
                manifest = {"step": step, **written, "failed": 0, **_run_facts(started)}
                self._write_manifest(folder, temporary, manifest)
        return StoredTable(digest, folder=folder)

    def find(
        self,
        step: str,
        component: object,
        inputs: Mapping[str, StoredTable],
        *,
        keep_failed: bool = False,
    ) -> StoredTable | None:
        """Return the stored result of a step, whose key is made of `component` and `inputs`.

        None if there is none, if a row of it failed (unless `keep_failed` is true), or if it is
        damaged: a notice names the file.
        """
        folder = self.folder(step, component, inputs)
        manifest = self._sound(folder)
        if manifest is not None and (keep_failed or not manifest["failed"]):
            return StoredTable(manifest["digest"], folder=folder)
        return self._of_other_code(step, component, inputs) if self.trust_code else None

    def _of_other_code(
        self, step: str, component: object, inputs: Mapping[str, StoredTable]
    ) -> StoredTable | None:
        """Return the latest result of a step whose key differs only in the code, or None."""
        parts = redacted_data(_made_of(component, inputs))
        wanted = without_sources({"step": step, "failed": 0, **parts})
        found = []
        for path in (self.root / "steps").glob(f"{step}-*/{MANIFEST}"):
            manifest = self._sound(path.parent) or {}
            if wanted == without_sources({key: manifest.get(key) for key in wanted}):
                found.append((manifest["started"], path.parent, manifest["digest"]))
        if not found:
            return None
        _, folder, digest = max(found)
        return StoredTable(digest, folder=folder, trusted=True)

    def folder(self, step: str, component: object, inputs: Mapping[str, StoredTable]) -> Path:
        """Return the folder of a step's result from `component` and `inputs`, even if absent."""
        key = fingerprint({"step": step, **_made_of(component, inputs)})
        return self.root / "steps" / f"{step}-{key[:KEY_LENGTH]}"

    def files(self, step: str, made_of: Mapping[str, Any], write: Callable[[Path], object]) -> Path:
        """Return the folder of a `step` that is stored under `made_of` (plain data, components).

        If it does not exist, `write` is called with an empty folder for its files.
        """
        folder = self._files_folder(step, made_of)
        if self._sound(folder) is None:
            started = time.time()
            with self._new_folder(folder) as temporary:
                write(temporary)
                give_back()
                files = {path.name: digest_once(path) for path in sorted(temporary.iterdir())}
                manifest = {"step": step, "made_of": fingerprint(made_of), "files": files}
                self._write_manifest(folder, temporary, manifest | _run_facts(started))
        use_arrays([folder.name])
        return folder

    def kept_files(self, step: str, made_of: Mapping[str, Any]) -> Path | None:
        """Return the folder that `files` stored for `step` and `made_of`; None if it is damaged."""
        folder = self._files_folder(step, made_of)
        if self._sound(folder) is None:
            return None
        use_arrays([folder.name])
        return folder

    def _files_folder(self, step: str, made_of: Mapping[str, Any]) -> Path:
        key = fingerprint({"step": step, **made_of})
        return self.root / "arrays" / f"{step}-{key[:KEY_LENGTH]}"

    def write_json(self, kind: str, name: str, value: Mapping[str, Any]) -> Path:
        """Write `value` as a small document, `kind/name.json`, and replace an earlier one."""
        path = self.root / kind / f"{name}.json"
        sealed = seal(value, f"{kind}/{name}.json")
        with store_errors(path), atomic_file(path, private=True) as file:
            file.write(json.dumps(sealed, indent=1, ensure_ascii=False).encode())
        return path

    def read_json(self, kind: str, name: str) -> dict[str, Any] | None:
        """Return the document `kind/name.json`, or None; raise `DamagedFile` if it is damaged."""
        path = self.root / kind / f"{name}.json"
        return read_document(path, self.root) if path.exists() else None

    def sound_json(self, kind: str, name: str) -> dict[str, Any] | None:
        """Return the document `kind/name.json`, or None; a damaged one is set aside."""
        try:
            return self.read_json(kind, name)
        except DamagedFile as error:
            _notify_damage(error)
            self.set_aside(self.root / kind / f"{name}.json")
            return None

    def remove_json(self, kind: str, name: str) -> None:
        """Remove the document `kind/name.json` if it exists."""
        path = self.root / kind / f"{name}.json"
        if path.exists():
            with store_errors(path):
                path.unlink(missing_ok=True)

    def set_aside(self, path: Path) -> Path:
        """Move the damaged folder or file `path` to `damaged/`, and return its new place."""
        folder = self.root / DAMAGED
        with store_errors(folder):
            make_folder(folder, private=True)
            places = (folder / f"{path.name}-{number}" for number in itertools.count(1))
            target = next(place for place in places if not place.exists())
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                path.rename(target)
        return target

    def check_writable(self) -> None:
        """Raise `StoreError` if the store is not writable.

        Abandoned temporary folders of killed processes are removed too, and what such a process
        finished last survives a power loss from now on.
        """
        with store_errors(self.root):
            make_folder(self.root, private=True)
            with tempfile.TemporaryDirectory(dir=self.root):
                pass
            for folder in self.root.iterdir():
                remove_abandoned(folder, limits.ABANDONED_STEP_SECONDS)
                keep_names(folder)

    def _write_manifest(self, folder: Path, temporary: Path, manifest: Mapping[str, Any]) -> None:
        sealed = seal(manifest, f"{folder.relative_to(self.root).as_posix()}/{MANIFEST}")
        text = json.dumps(sealed, indent=1, ensure_ascii=False)
        (temporary / MANIFEST).write_text(text, encoding="utf-8")

    def _sound(self, folder: Path) -> dict[str, Any] | None:
        """Return the manifest of a folder whose files are as written, or None.

        A notice names the damage, unless an earlier version wrote the folder.
        """
        for second_look in (False, True):
            if not folder.exists():
                return None
            try:
                manifest = read_manifest(folder)
                verify_files(folder, manifest)
            except DamagedFile as error:
                # Another process may have replaced the folder between two of its files.
                if second_look and error.document is None:
                    _notify_damage(error)
            else:
                return manifest
        return None

    @contextmanager
    def _new_folder(self, folder: Path) -> Iterator[Path]:
        """Yield a temporary folder that becomes `folder`, unless another process was faster."""

        def has_failed_rows(folder: Path) -> bool:
            return bool((self._sound(folder) or {}).get("failed"))

        with store_errors(folder):
            try:
                with atomic_folder(folder, is_obsolete=has_failed_rows, private=True) as temporary:
                    yield temporary
                    if folder.exists() and self._sound(folder) is None:
                        self.set_aside(folder)
            except OSError as error:
                taken = error.errno in (errno.ENOTEMPTY, errno.EEXIST)
                if not (taken and self._sound(folder) is not None):
                    raise


def _write_table(blocks: Iterable[Table], folder: Path, digest: str = "") -> dict[str, Any]:
    """Write a table, and return its digest, its rows and the digest of its file."""
    path = folder / TABLE
    rows = write_blocks(blocks, path)
    digest = digest or digest_result_file(path)
    return {"digest": digest, "rows": rows, "file_digest": digest_once(path)}


def _made_of(component: object, inputs: Mapping[str, StoredTable]) -> dict[str, Any]:
    return {
        "made_by": cache_key_parts(component),
        "inputs": {name: kept.digest for name, kept in inputs.items()},
    }


def _code_facts(made_by: Mapping[str, Any]) -> dict[str, Any]:
    """Return a short digest of the code of a component and its parts, and its packages."""
    digests = list(sources(made_by))
    packages = {name: version for one in digests for name, version in packages_of(one).items()}
    return {
        "source": fingerprint(digests)[:SOURCE_LENGTH],
        "packages": dict(sorted(packages.items())),
    }


def _run_facts(started: float) -> dict[str, Any]:
    return {
        "started": utc_text(started),
        "seconds": round(time.time() - started, 3),
        "ragstone": __version__,
    }


def _notify_damage(error: DamagedFile) -> None:
    notify_once(f"{error.path} is damaged: {error.what}; it is set aside and made again")


@lru_cache
def notify_once(text: str) -> None:
    """Log a notice, once: a plan and a run look up the same steps."""
    _LOG.warning("%s", text)


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn a full disk or a missing permission into a `StoreError`."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {system_reason(error)}. Everything finished before is kept; "
            f"make room or give another folder with store=PATH, and run the same command again"
        ) from error
