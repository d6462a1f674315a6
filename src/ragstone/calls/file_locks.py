"""Which locks the file system of a store supports, and the journal of SQLite that suits them.

SQLite's write-ahead log is in memory that the processes of one machine share. On a file system that
several machines share, a rollback journal takes its place.
"""

from __future__ import annotations

import os
import struct
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

_SHARED: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "lustre", "gpfs", "beegfs", "afs"}
    | {"glusterfs", "fuse.glusterfs", "fuse.sshfs", "fuse.ceph", "fuse.juicefs", "virtiofs"}
)
"""Types of file systems that several machines may share."""
_LOCAL_LOCKS: Final = frozenset({"nolock", "local_lock=all", "local_lock=posix"})
_MOUNTS: Final = Path("/proc/self/mounts")


def journal_mode(folder: Path) -> str:
    """Return SQLite's journal for a folder: `wal`, or `truncate` if machines share it."""
    return "truncate" if _mount(folder)[0] in _SHARED else "wal"


def lock_problem(folder: Path) -> str:
    """Return why processes cannot lock a file in a folder against each other, or ""."""
    if sys.platform != "linux":
        return ""
    kind, options = _mount(folder)
    if kind in _SHARED and options & _LOCAL_LOCKS:
        return f"locks on this {kind} mount do not reach other machines"
    with (
        tempfile.NamedTemporaryFile(dir=folder, prefix=".tmp-") as file,
        Path(file.name).open("r+b") as again,
    ):
        try:
            _lock(file.fileno())
        except OSError as error:
            return f"a file cannot be locked there ({error.strerror or error})"
        with suppress(OSError):
            _lock(again.fileno())
            return "two processes can lock the same file there"
    return ""


def _lock(descriptor: int) -> None:
    """Take the exclusive lock of an open file; raise `OSError` if another one has it."""
    import fcntl

    # A lock of the open file, not of the process, conflicts with others of this process too.
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))


def _mount(folder: Path) -> tuple[str, frozenset[str]]:
    """Return the type and the options of the file system of a folder; "" if they are unknown."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "", frozenset()
    place = os.path.realpath(folder)
    best: tuple[str, str, frozenset[str]] = ("", "", frozenset())
    for line in lines:
        _, point, kind, options, *_ = line.split(" ")
        point = point.replace("\\040", " ")
        inside = place == point or place.startswith(f"{point.rstrip('/')}/")
        if inside and len(point) >= len(best[0]):
            best = point, kind, frozenset(options.split(","))
    return best[1], best[2]
