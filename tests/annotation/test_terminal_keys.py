"""Keys from a terminal and from a pipe."""

from __future__ import annotations

import io
import os
import pty

from ragstone.annotation.terminal_keys import END, ENTER, PipedKeys, TerminalKeys, keys_of


def test_a_pipe_has_a_key_per_line() -> None:
    """Its end is a key too."""
    keys = keys_of(io.StringIO("1\n\nx y\nsome text\n\udce9\n"), io.StringIO())

    assert isinstance(keys, PipedKeys)
    assert [keys.key(), keys.key(), keys.key()] == ["1", ENTER, "x"]
    assert keys.line("? ") == "some text"
    assert keys.line("? ") == "?"  # a byte that is not a text
    assert (keys.line("? "), keys.key()) == (None, END)


def test_a_terminal_has_single_keys() -> None:
    """No Enter is needed; a character of several bytes is one key."""
    outside, inside = pty.openpty()
    with os.fdopen(inside, "r") as file:
        keys = keys_of(file, io.StringIO())
        assert isinstance(keys, TerminalKeys)
        os.write(outside, "1é\r".encode())
        assert [keys.key(), keys.key(), keys.key()] == ["1", "é", ENTER]
        os.write(outside, "a línea\n2".encode())
        assert keys.line("? ") == "a línea"
        assert keys.key() == "2"
        keys.close()
    os.close(outside)
