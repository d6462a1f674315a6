"""A store whose experiment was really run, for the tests of several pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.listed_pages import faulty_store, judged_store


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with an experiment of two systems that fail on purpose."""
    return faulty_store(tmp_path_factory.mktemp("faulty"))


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with an experiment whose answers two judges grade."""
    return judged_store(tmp_path_factory.mktemp("judged"))
