"""Opening files that users name: a pipe, a device or a broken link is an error, not a wait."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import BinaryIO, Final

_KINDS: Final = {
    stat.S_IFIFO: "a pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class NotRegular(OSError):
    """A path is a broken link, or something else that is not a regular file."""


def open_regular(path: Path, buffering: int = -1) -> BinaryIO:
    """Return a regular file, opened for reading bytes.

    Raises:
        FileNotFoundError: there is nothing at the path.
        NotRegular: the path is a broken link, a folder, a pipe, a socket or a device. Reading a
            pipe would wait for its writer, and a device may have no end.
        OSError: the file cannot be opened.
    """
    check_regular(path)
    return path.open("rb", buffering)


def check_regular(path: Path) -> None:
    """Raise `FileNotFoundError` or `NotRegular` unless a path is a regular file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        if path.is_symlink():
            raise NotRegular(
                f"it is a link to {str(path.readlink())!r}, which does not exist"
            ) from error
        raise
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "not a regular file")
        way_out = "name a file" if stat.S_ISDIR(mode) else "write its content into a file"
        raise NotRegular(f"it is {kind}, not a file; {way_out}")


def exists(path: str | Path) -> bool:
    """Return whether there is something at a path; False for a name that no file can have.

    >>> exists("x" * 5000)
    False
    """
    try:
        return Path(path).exists()
    except OSError:
        return False


def is_there(path: Path) -> bool:
    """Return whether a path is a regular file or should be one: a broken link, a pipe, a device.

    A folder is not. Use it to list files by their names, so that one that cannot be read is not
    left out in silence.
    """
    return not path.is_dir() and (path.exists() or path.is_symlink())
