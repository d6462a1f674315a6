"""`ragstone annotate PROJECT --terminal`: labels in a terminal, such as over ssh."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Final

import click

from ragstone.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from ragstone.annotation.site import Site

_WIDEST: Final = 100
"""Characters of a line: longer ones are hard to read."""


def run_terminal(site: Site) -> None:
    """Let the person of a site label in this terminal, until they quit or nothing is left.

    Raises `ConfigError` if the project has named people, and the person is none of them.
    """
    from ragstone.annotation.terminal import TerminalPage
    from ragstone.annotation.terminal_keys import keys_of

    names = [one.name for one in site.database.people()]
    if names and site.name not in names:
        raise ConfigError(
            f"the project has no person {site.name!r}{did_you_mean(site.name, names)}; give --name "
            f"with one of: {', '.join(names)}",
            key="name",
            value=site.name,
        )
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    keys = keys_of(sys.stdin, sys.stdout)
    page = TerminalPage(site, site.name, keys, lambda text: click.echo(text, nl=False), width)
    try:
        page.run()
    finally:
        keys.close()
