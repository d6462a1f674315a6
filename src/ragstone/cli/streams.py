"""Standard streams that a service has closed, or whose disk is full."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing_extensions import Buffer

_STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


class _Notices(io.FileIO):
    """Standard error: what it cannot take is lost, and the work goes on."""

    def write(self, content: Buffer, /) -> int:
        """Write, or lose the content."""
        try:
            return super().write(content) or 0
        except OSError:
            return memoryview(content).nbytes


def open_streams() -> None:
    """Open the null device for closed streams, and let notices be lost if no room is left.

    Without a null device, the next file that is opened would be the closed stream.
    """
    for name, mode in _STREAMS:
        if getattr(sys, name) is None:
            # The lowest free number is the stream's, since those before it are open.
            null = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(null, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    try:
        descriptor = sys.stderr.fileno()
    except io.UnsupportedOperation:  # a stream of another program, which keeps what it gets
        return
    raw = io.BufferedWriter(_Notices(descriptor, "w", closefd=False))
    encoding = sys.stderr.encoding
    sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", line_buffering=True)
