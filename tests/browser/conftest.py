"""Tests of pages need a browser, which no Python package contains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.browser.devtools import driven_browser, find_chromium, running_browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[str]:
    """Yield the address of a running Chromium; skips the test if none is installed."""
    found = find_chromium()
    if found is None:
        pytest.skip("Chromium is not installed; install with: apt-get install chromium")
    with running_browser(found) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield a Chromium that Playwright drives; skips the tests if one of them is missing."""
    yield from driven_browser()
