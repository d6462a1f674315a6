"""An annotation project, served in a thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes.served_app import served_app

from ragstone.annotation.app import make_app
from ragstone.annotation.site import Site


@contextmanager
def served_site(site: Site, port: int = 0) -> Iterator[str]:
    """Serve a project, and yield the address that opens a session."""
    with served_app(make_app(site), port) as address:
        yield f"{address}/?key={site.key}"


def port_of(address: str) -> int:
    """Return the port of a served project."""
    return int(address.split(":")[2].partition("/")[0])
