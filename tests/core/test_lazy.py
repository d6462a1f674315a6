"""Lazy public names: importing a package loads nothing, its names load their modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ragstone import calls
from ragstone.core.lazy import attach


def test_every_public_name_exists_and_is_listed() -> None:
    """`__all__` is sorted, `dir` shows the same names, and each name has a value."""
    assert sorted(calls.__all__) == calls.__all__ == dir(calls)
    assert all(getattr(calls, name).__name__ == name for name in calls.__all__ if name != "Outcome")


def test_importing_the_package_imports_no_module_of_it() -> None:
    """`import ragstone.calls` loads neither aiohttp nor the client."""
    code = "import sys, ragstone.calls; print([m for m in sys.modules if m.startswith(WANTED)])"
    code = code.replace("WANTED", "('aiohttp', 'orjson', 'ragstone.calls.')")

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The error names the package and the attribute."""
    get, _, _ = attach("ragstone.calls", {"Calls": "client"})

    with pytest.raises(AttributeError, match=r"'ragstone\.calls' has no attribute 'Cals'"):
        get("Cals")
