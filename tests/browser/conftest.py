"""Tests of pages need a browser, which no Python package brings."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.browser.devtools import find_chromium, running_browser

_MARK = "CHROMIUM ABSENT"


@pytest.fixture(scope="session")
def chromium() -> Iterator[str]:
    """Yield where a Chromium listens; skips where there is none, unless one is demanded."""
    found = find_chromium()
    if found is None and os.environ.get("RAGSTONE_NEED_BROWSER"):
        pytest.fail(f"{_MARK}, and RAGSTONE_NEED_BROWSER is set")
    if found is None:
        pytest.skip(f"{_MARK}: install one, such as Debian's package chromium")
    with running_browser(found) as address:
        yield address


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests did not run for want of a browser: a green line must not hide it."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(_MARK in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_sep(
            "!", f"{count} tests NOT RUN: no Chromium on this machine", yellow=True, bold=True
        )
