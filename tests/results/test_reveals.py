"""The record of when secret queries were revealed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.fakes.made_results import made_results

from ragstone.core.store import Store
from ragstone.results.reveals import record_change, record_reveal, reveals


def test_reveals_are_kept_in_the_store(tmp_path: Path) -> None:
    """Equal ones of one day are one; those of another share are added."""
    store = Store(tmp_path)
    assert reveals(store, "e") == []
    for share in (0.2, 0.2, 0.3):
        record_reveal(store, "e", {"queries": share, "seed": 0}, "--reveal")
    assert [(one.queries, one.by) for one in reveals(store, "e")] == [
        (0.2, "--reveal"),
        (0.3, "--reveal"),
    ]
    assert reveals(store, "f") == []


def test_a_smaller_share_is_a_reveal(tmp_path: Path) -> None:
    """So is none, or another seed; a larger share and the first share are not."""
    results = made_results(tmp_path)

    def record_with(secret: object) -> object:
        return replace(results.record, file={**results.record.file, "secret": secret})

    fifth, half = {"queries": 0.2, "seed": 0}, {"queries": 0.5, "seed": 0}
    for before, after in ((None, fifth), (fifth, fifth), (fifth, half)):
        record_change(results.store, record_with(before), record_with(after))  # type: ignore[arg-type]
    assert reveals(results.store, results.name) == []
    record_change(results.store, record_with(half), record_with(fifth))  # type: ignore[arg-type]
    record_change(results.store, record_with(fifth), record_with(None))  # type: ignore[arg-type]
    found = reveals(results.store, results.name)
    assert [one.queries for one in found] == [0.5, 0.2]
    assert found[0].by == "the key `secret` was changed"
