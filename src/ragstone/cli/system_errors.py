"""Messages for what the system refuses: a full disk, a missing permission, too little memory."""

from __future__ import annotations

import errno
import sys
from contextlib import suppress
from typing import Final

from ragstone.errors import system_reason

_ROOM: Final = "make room on the disk, or allow larger files (ulimit -f)"
_PERMISSION: Final = "choose a folder that you may write, or change its permissions"
_THREADS: Final = "allow more threads and processes (ulimit -u)"
_MEMORY: Final = "allow more memory, end other programs, or measure fewer queries (sample)"
_WAYS_OUT: Final = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: _ROOM,
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.EROFS: _PERMISSION,
    errno.EAGAIN: _THREADS,
    errno.ENOMEM: _MEMORY,
}
_NO_THREAD: Final = "can't start new thread"
_NO_HOME: Final = "Could not determine home directory"


def system_message(error: BaseException) -> str:
    """Return what the system refused and the way out, or "" if another thing is wrong."""
    match error:
        case MemoryError():
            return f"there is too little memory; {_MEMORY}, and run the same command again"
        case RuntimeError() if _NO_THREAD in str(error):
            return f"no thread can be started; {_THREADS}, and run the same command again"
        case RuntimeError() if _NO_HOME in str(error):
            return "the home folder of this user is not known; set the variable HOME to a folder"
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            way_out = _WAYS_OUT.get(error.errno or 0, "")
            remedy = f"; {way_out}, and run the same command again" if way_out else ""
            return f"{place}{system_reason(error)}{remedy}"
    return ""


def end_of(error: BaseException) -> int:
    """Print what the system refused, and return the exit code; raise any other error."""
    message = system_message(error)
    if not message:
        raise error
    with suppress(OSError, AttributeError):  # standard error is full or closed
        sys.stderr.write(f"Error: {message}\n")
        sys.stderr.flush()
    return 1
