"""Standard streams that were closed before the program started, as some services do."""

from __future__ import annotations

import os
import sys
from typing import Final

_STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed_streams() -> None:
    """Open the null device for each; else the next file that is opened would be that stream."""
    for name, mode in _STREAMS:
        if getattr(sys, name) is None:
            # The lowest free number is the stream's, since those before it are open.
            null = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(null, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
