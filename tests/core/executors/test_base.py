"""Executors: order, lookahead and the check of versions."""

import copy
from pathlib import Path

import pytest

from ragstone.core.executors.base import InProcess, SameVersion, in_order, package_identity
from ragstone.errors import DamagedFile, MissingDependency, RagstoneError


def test_few_items_are_taken_ahead() -> None:
    """Few items are taken ahead."""
    taken: list[int] = []

    def submit(item: int) -> int:
        taken.append(item)
        return item

    found = in_order(submit, lambda item: 2 * item, range(10), 3)
    assert next(found) == 0
    assert taken == [0, 1, 2]
    assert list(found) == [2 * item for item in range(1, 10)]


def test_a_worker_of_another_version_is_refused() -> None:
    """A worker of another version is refused."""
    assert list(InProcess().map(SameVersion(str, package_identity()), [1])) == ["1"]
    with pytest.raises(RagstoneError, match=r"this process has 0\.0 \(x\)"):
        SameVersion(str, "0.0 (x)")(1)


def test_errors_keep_their_facts_on_the_way_from_a_worker(tmp_path: Path) -> None:
    """Errors whose constructors take other arguments than a message arrive with their facts."""
    damaged = copy.copy(DamagedFile(tmp_path, "is cut", store=tmp_path))
    missing = copy.copy(MissingDependency("a part", "package", "dask"))
    assert (damaged.path, damaged.what, damaged.exit_code) == (tmp_path, "is cut", 1)
    assert (missing.extra, missing.value) == ("dask", "package")
    assert "install it with: pip install 'ragstone[dask]'" in str(missing)
