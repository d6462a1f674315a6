"""The page of labels."""

from __future__ import annotations

from ragstone.annotation.pages import PAGES


def test_the_first_page_is_that_of_labels() -> None:
    """It is at the printed address."""
    assert PAGES[0].path == "/label"
