"""Tests of pages need a browser, which no Python package contains."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.browser.devtools import find_chromium, running_browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[str]:
    """Yield the address of a running Chromium; skips the test if none is installed."""
    found = find_chromium()
    if found is None:
        pytest.skip("Chromium is not installed; install with: apt-get install chromium")
    with running_browser(found) as address:
        yield address
