"""The live pages of a store, served in a thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.fakes.served_app import served_app

from ragstone.view.app import make_app
from ragstone.view.page import ViewAction
from ragstone.view.pages import ACTIONS, PAGES
from ragstone.view.store_view import StoreView


@contextmanager
def served(
    view: StoreView, actions: Sequence[ViewAction] = ACTIONS, port: int = 0
) -> Iterator[str]:
    """Serve all pages of a store, and yield their address, without a slash at its end."""
    with served_app(make_app(view, PAGES, tuple(actions)), port) as address:
        yield address
