"""Lazy public names: importing a package loads nothing, its names load their modules."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from ragstone import calls, testing
from ragstone.core.builtins import BUILT_IN
from ragstone.core.lazy import attach


@pytest.mark.parametrize("package", [calls, testing])
def test_every_public_name_exists_and_is_listed(package: ModuleType) -> None:
    """`__all__` is sorted, `dir` shows the same names, and each name has a value."""
    assert sorted(package.__all__) == package.__all__ == dir(package)
    named = set(package.__all__) - {"Outcome", "FAULTS"}
    assert all(getattr(package, name).__name__ == name for name in named)


def test_there_is_a_check_for_every_kind_of_component() -> None:
    """`ragstone.testing` exports the checks, the fakes and the kinds of faults."""
    checks = {f"check_{kind.removesuffix('s')}" for kind in BUILT_IN}
    fakes = {
        "FAULTS",
        "FakeBatchServer",
        "FakeElasticsearch",
        "FakeExpert",
        "FakeFaults",
        "FakeGullibleJudge",
        "FakeModelServer",
        "ScriptedCalls",
    }
    assert set(testing.__all__) == checks | fakes


def test_importing_the_package_imports_no_module_of_it() -> None:
    """`import ragstone.calls` loads neither aiohttp nor the client."""
    code = "import sys, ragstone.calls; print([m for m in sys.modules if m.startswith(WANTED)])"
    code = code.replace("WANTED", "('aiohttp', 'orjson', 'ragstone.calls.')")

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The error names the package and the attribute."""
    get, _, _ = attach("ragstone.calls", {"client": ["Calls"]})

    with pytest.raises(AttributeError, match=r"'ragstone\.calls' has no attribute 'Cals'"):
        get("Cals")
