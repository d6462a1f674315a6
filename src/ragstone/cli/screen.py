"""What commands print: results on standard output, messages and logs on standard error.

Texts of data, servers and models pass here, so that none can clear a screen or forge a line of it,
now or when a kept output is shown later.
"""

from __future__ import annotations

import logging
import re
from typing import Final

import click

from ragstone.core.screen_text import message, safe

_CONTROLS: Final = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Controls that JSON has as they are."""


def say(text: str, *, err: bool = False) -> None:
    """Print a text; controls of the data are codes."""
    click.echo(safe(text), err=err)


def say_json(content: bytes) -> None:
    """Print JSON as `coded_json`."""
    click.echo(coded_json(content))


def coded_json(content: bytes) -> str:
    """Return JSON whose controls and direction marks are JSON's own codes, for the same values."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", content.decode())


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
