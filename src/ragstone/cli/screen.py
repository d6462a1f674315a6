"""What commands print: results on standard output, messages and logs on standard error.

Texts of data, servers and models pass here, so that none can clear a screen or forge a line of it.
Results that go into a file or a pipe stay as they are.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import Final

import click

from ragstone.core.screen_text import message, safe

_NO_ASCII: Final = re.compile("[\x7f-\U0010ffff]")


def say(text: str, *, err: bool = False) -> None:
    """Print a text; on a terminal, and on standard error, controls of the data are codes."""
    on_screen = err or sys.stdout.isatty()
    click.echo(safe(text) if on_screen else text, err=err)


def say_json(content: bytes) -> None:
    """Print JSON; on a terminal controls and direction marks are JSON's own codes."""
    text = content.decode()
    click.echo(_NO_ASCII.sub(_json_code, text) if sys.stdout.isatty() else text)


def _json_code(found: re.Match[str]) -> str:
    character = found[0]
    return character if safe(character) == character else f"\\u{ord(character):04x}"


def tell(text: str) -> None:
    """Print a message of at most 1,000 characters on standard error."""
    click.echo(message(text), err=True)


class MessageHandler(logging.Handler):
    """Prints log records as messages."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the text of a record."""
        try:
            tell(self.format(record))
        except Exception:  # noqa: BLE001 - as every handler of logging
            self.handleError(record)


def show_logs() -> None:
    """Print warnings of all packages as messages, unless the program has handlers of its own."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(MessageHandler(logging.WARNING))
