"""Standard output and standard error without secrets: results, notices and tracebacks."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TextIO

from ragstone.core.redaction import redacted


class RedactedStream:
    """A stream that removes known secrets from what is written; the rest is as of the stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text without secrets, and return the number of its characters."""
        self._stream.write(redacted(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write some lines without secrets."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def redact_streams() -> None:
    """Remove secrets from all that the program prints from now on."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, RedactedStream):
            setattr(sys, name, RedactedStream(stream))
