"""Atomic writes: a file or folder appears under its name complete, or not at all.

Everything is written into a temporary folder beside its target and synced to the disk before the
rename. A killed process leaves at most a temporary folder, which `remove_abandoned` removes.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.core.redaction import redacted_bytes
from ragstone.errors import StoreError, system_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

_PREFIX: Final = ".tmp-"
_ON_WINDOWS: Final = sys.platform == "win32"


@contextmanager
def atomic_folder(
    folder: Path,
    *,
    is_obsolete: Callable[[Path], bool] = lambda _: False,
    private: bool = False,
) -> Iterator[Path]:
    """Yield an empty folder that is renamed to `folder` if the block succeeds.

    An existing folder is replaced if it is empty or `is_obsolete(folder)` is true. With `private`,
    nobody else can read it. Raises `OSError` if another folder exists, the disk is full or a
    permission is missing.
    """
    with _temporary_folder(folder.parent, private=private) as temporary:
        yield temporary
        _sync_all(temporary)
        # Renamed, not removed in place: other processes see the old folder or the new one, whole.
        aside = temporary.with_name(f"{temporary.name}-old")
        if folder.exists() and is_obsolete(folder):
            with suppress(FileNotFoundError):
                folder.rename(aside)
        try:
            temporary.rename(folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        _sync(folder.parent)


@contextmanager
def atomic_files(folder: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield an empty folder whose files are moved into `folder` if the block succeeds.

    Existing files and folders of the same names are replaced. With `private`, nobody else can read
    the new ones. Raises `OSError` as `atomic_folder` does.
    """
    with _temporary_folder(folder, private=private) as temporary:
        yield temporary
        _sync_all(temporary)
        for path in sorted(temporary.iterdir()):
            if path.is_dir():
                # A rename replaces no folder with files.
                shutil.rmtree(folder / path.name, ignore_errors=True)
            path.replace(folder / path.name)
        _sync(folder)


@contextmanager
def atomic_file(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Yield a binary file that replaces `path` if the block succeeds.

    With `private`, nobody else can read it. Raises `OSError` as `atomic_folder` does.
    """
    with (
        atomic_files(path.parent, private=private) as temporary,
        (temporary / path.name).open("xb") as file,
    ):
        yield file


def make_folder(folder: Path, *, private: bool = False) -> Path:
    """Make a folder and those above it unless they exist, and return it.

    Power loss does not take new ones away. Nobody else can read `private` ones.
    """
    above = (folder, *folder.parents)
    new = [one for one in above if not one.exists()]
    with suppress(PermissionError):
        # The lowest folder that exists may be of a process that was killed before its sync.
        _sync(above[len(new)].parent)
    for one in reversed(new):
        one.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
        # The name of a new folder is in its parent, which nothing else syncs.
        _sync(one.parent)
    if not new:
        folder.mkdir(exist_ok=True)  # an error if it is a file
    return folder


def private_file(path: Path) -> Path:
    """Create an empty file that nobody else can read, unless it exists; power loss keeps it."""
    make_folder(path.parent, private=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    # Also for an existing file: the process that made it may have been killed before its sync.
    _sync(path.parent)
    return path


def write_document(path: Path, content: bytes, what: str, *, private: bool = True) -> Path:
    """Write a file such as a report, and return its path; raise `StoreError` if that fails.

    It contains no secret that is known, and nobody else can read a `private` one.
    """
    try:
        with atomic_file(path, private=private) as file:
            file.write(redacted_bytes(content))
    except OSError as error:
        raise StoreError(f"cannot write the {what} {path}: {system_reason(error)}") from error
    return path


def remove_abandoned(folder: Path, seconds: float) -> None:
    """Remove temporary folders directly below `folder` that did not change for `seconds`.

    A younger one may belong to a process that is still writing.
    """
    for temporary in abandoned(folder, seconds):
        shutil.rmtree(temporary, ignore_errors=True)


def keep_names(folder: Path) -> None:
    """Sync the names in a folder, which a process may have renamed and was killed before its sync.

    A folder that cannot be read, or that another process has removed, is left as it is.
    """
    with suppress(OSError):
        if folder.is_dir():
            _sync(folder)


def abandoned(folder: Path, seconds: float) -> list[Path]:
    """Return the temporary folders directly below `folder` that did not change for `seconds`."""
    try:
        found = sorted(folder.glob(f"{_PREFIX}*"))
    except FileNotFoundError:
        # Another process has just removed the folder, such as its own temporary one.
        return []
    return [path for path in found if time.time() - _last_change(path) > seconds]


def is_temporary(path: Path) -> bool:
    """Return whether a file or folder has the name of an unfinished one."""
    return path.name.startswith(_PREFIX)


@contextmanager
def _temporary_folder(parent: Path, *, private: bool) -> Iterator[Path]:
    temporary = parent / f"{_PREFIX}{secrets.token_hex(8)}"
    make_folder(parent, private=private)
    temporary.mkdir(mode=0o700 if private else 0o777)
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _last_change(folder: Path) -> float:
    """Return the time of the last change of a folder or a file in it, or now if it is gone."""
    try:
        return max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
    except OSError:
        return time.time()


def _sync_all(folder: Path) -> None:
    usual = folder.stat().st_mode & 0o666
    for path in (*folder.rglob("*"), folder):
        # Some libraries make files that their owner alone can read, whatever the umask.
        if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o666 != usual:
            path.chmod(path.stat().st_mode & ~0o666 | usual)
        _sync(path)


def _sync(path: Path) -> None:
    if _ON_WINDOWS and path.is_dir():
        return  # Windows opens no folder; its file system logs the names
    # Windows syncs a file only if it is open for writing.
    descriptor = os.open(path, os.O_RDWR if _ON_WINDOWS else os.O_RDONLY)
    try:
        _flush(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a folder.
        if error.errno != errno.EINVAL or not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def _flush(descriptor: int) -> None:
    """Have a file or folder written to the disk; on macOS `fsync` leaves it in the disk's cache."""
    if sys.platform == "darwin":
        import fcntl

        # Not every file system has it, such as one on the network.
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)
