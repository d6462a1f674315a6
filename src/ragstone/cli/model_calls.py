"""The way of commands to models: the store of their replies, and progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE

if TYPE_CHECKING:
    from ragstone.protocols import Services

store_option: Final = click.option(
    "--store", type=FILE, default=Path(".ragstone"), help="Folder of kept model replies."
)


@contextmanager
def open_services(store: Path, **limits: Any) -> Iterator[Services]:
    """Yield the way to models, with progress; their replies are kept in a folder.

    `limits` are those of `Calls.at`, such as a budget.
    """
    from ragstone.calls.client import Calls
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.core.store import Store
    from ragstone.protocols import Services

    with Calls.at(Store(store).call_log, shared="", **limits) as calls, shown_by(open_bar):
        yield Services(calls=calls)
