"""Keys and lines from a terminal, or from a pipe with one key per line."""

from __future__ import annotations

import os
import sys
from typing import Final, Protocol, TextIO

END: Final = "\x04"
"""The key that ends the input; of a pipe, its end."""
ENTER: Final = "\n"
_CONTINUES: Final = 0b1000_0000
_FIRST: Final = {0b110: 1, 0b1110: 2, 0b11110: 3}
"""First bits of a character in UTF-8 -> bytes that follow."""


class KeySource(Protocol):
    """Where keys and lines come from."""

    def key(self) -> str:
        """Return the next key; `END` if there is none."""
        ...

    def line(self, prompt: str) -> str | None:
        """Return a line that a person writes; None if the input ended."""
        ...

    def close(self) -> None:
        """Restore the settings that reading keys changed."""
        ...


class PipedKeys:
    """Lines of a pipe: the first character of each is a key.

    Args:
        source: the input.
        target: where prompts are written.
    """

    def __init__(self, source: TextIO, target: TextIO) -> None:
        self._source, self._target = source, target

    def key(self) -> str:
        """Return the first character of the next line."""
        line = self._source.readline()
        return (line.strip()[:1] or ENTER) if line else END

    def line(self, prompt: str) -> str | None:
        """Return the next line."""
        self._target.write(prompt)
        self._target.flush()
        line = self._source.readline()
        # No database keeps the bytes of a pipe that are not text.
        return line.rstrip("\r\n").encode(errors="replace").decode() if line else None

    def close(self) -> None:
        """Do nothing: a pipe has no settings."""


class TerminalKeys(PipedKeys):
    """Single keys of a terminal, without Enter and without an echo; `close` restores it."""

    def __init__(self, source: TextIO, target: TextIO) -> None:
        import termios

        super().__init__(source, target)
        self._descriptor = source.fileno()
        self._before = termios.tcgetattr(self._descriptor)

    def key(self) -> str:
        """Return the next key as a character; Enter is a line break."""
        import termios
        import tty

        self._target.flush()
        # Keys that were typed ahead stay: a fast person loses none.
        tty.setcbreak(self._descriptor, termios.TCSANOW)
        first = os.read(self._descriptor, 1)
        if not first:
            return END
        rest = b""
        if first[0] & _CONTINUES:
            bits = (first[0] >> shift for shift in (5, 4, 3))
            count = next((_FIRST[one] for one in bits if one in _FIRST), 0)
            rest = os.read(self._descriptor, count) if count else b""
        key = (first + rest).decode(errors="replace")
        return ENTER if key == "\r" else key

    def line(self, prompt: str) -> str | None:
        """Return the next line, which the terminal lets the person edit."""
        self.close()
        self._target.write(prompt)
        self._target.flush()
        written = b""
        # Byte by byte: keys that were typed ahead may be behind the line.
        while not written.endswith((b"\n", b"\r")):
            one = os.read(self._descriptor, 1)
            if not one:
                return written.decode(errors="replace") or None
            written += one
        return written.decode(errors="replace").rstrip("\r\n")

    def close(self) -> None:
        """Restore the settings of the terminal."""
        import termios

        termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)


def keys_of(source: TextIO, target: TextIO) -> KeySource:
    """Return the keys of a terminal, or of a pipe and of systems without single keys."""
    has_keys = source.isatty() and sys.platform != "win32"
    return TerminalKeys(source, target) if has_keys else PipedKeys(source, target)
