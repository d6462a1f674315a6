"""The kept leaderboard: equal to the computed one, and never an old one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_results import made_results

from ragstone.core.store import Store
from ragstone.results import kept_board, terminal
from ragstone.results.kept_board import (
    KIND,
    folders_of,
    leaderboard_document,
    leaderboard_parts,
)
from ragstone.results.reader import StoredResults
from ragstone.results.record import Attempt


def shown(root: Path) -> str:
    """Return what the terminal shows of the results of a store."""
    return "\n\n".join(map(str, leaderboard_parts(StoredResults.load(Store(root), "made"))))


@pytest.fixture(name="counted")
def _counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows each time a board is computed."""
    made: list[str] = []
    real = terminal.parts_above

    def parts_above(results: StoredResults) -> Any:
        made.append(results.name)
        return real(results)

    monkeypatch.setattr(terminal, "parts_above", parts_above)
    return made


def test_a_kept_board_shows_what_was_computed(tmp_path: Path, counted: list[str]) -> None:
    """The text and the document are the same, and computed once."""
    results = made_results(tmp_path)
    first, document = shown(tmp_path), leaderboard_document(results)
    assert len(counted) == 1
    assert shown(tmp_path) == first
    assert leaderboard_document(StoredResults.load(Store(tmp_path), "made")) == document
    assert len(counted) == 1

    shutil.rmtree(tmp_path / KIND)
    assert shown(tmp_path) == first
    assert len(counted) == 2


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"key": "x"}'])
def test_a_damaged_board_is_computed_again(
    tmp_path: Path, counted: list[str], damage: bytes
) -> None:
    """It is replaced, and shows the same."""
    made_results(tmp_path)
    first = shown(tmp_path)
    (tmp_path / KIND / "made.json").write_bytes(damage)

    assert shown(tmp_path) == first
    assert shown(tmp_path) == first
    assert len(counted) == 2


def test_changed_code_shows_no_earlier_board(
    tmp_path: Path, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest of the code is part of the key."""
    made_results(tmp_path)
    shown(tmp_path)
    monkeypatch.setattr(kept_board, "code_digest", lambda: "other")
    shown(tmp_path)

    assert len(counted) == 2


def test_a_changed_record_shows_no_earlier_board(tmp_path: Path, counted: list[str]) -> None:
    """A record with another rule for failures has other means."""
    results = made_results(tmp_path)
    first = shown(tmp_path)
    file = {**results.record.file, "failures": "exclude"}
    replace(results.record, file=file).save(results.store)

    assert shown(tmp_path) != first
    assert len(counted) == 2


def test_a_newer_attempt_is_shown(tmp_path: Path) -> None:
    """An attempt after the finished run is part of the key."""
    results = made_results(tmp_path)
    shown(tmp_path)
    after = results.record.finished or ""
    Attempt("2026-03-03T10:00:00+00:00", after, "ragstone run made.yaml", 0, 0, 8, 3).save(
        results.store, "made"
    )

    assert "A newer attempt is incomplete" in shown(tmp_path)


@pytest.mark.parametrize("folder", ["scores", "predictions"])
def test_a_damaged_table_is_reported_as_before(tmp_path: Path, folder: str) -> None:
    """A kept board does not hide damage."""
    from ragstone.errors import DamagedFile

    results = made_results(tmp_path)
    shown(tmp_path)
    path = tmp_path / "steps" / getattr(results.record.trials[0], folder) / "table.parquet"
    path.write_bytes(path.read_bytes()[:-9] + b"123456789")

    with pytest.raises(DamagedFile):
        shown(tmp_path)


def test_boards_of_unfinished_runs_are_not_kept(tmp_path: Path) -> None:
    """Nor is one with secrets, whose notice is told each time."""
    made_results(tmp_path, finished=False)
    shown(tmp_path)
    assert not (tmp_path / KIND).exists()


def test_every_table_of_a_record_is_named(tmp_path: Path) -> None:
    """The folders are those of the store; names of systems and settings are none."""
    results = made_results(tmp_path)
    named = set(folders_of(results.record))

    assert named <= {path.name for path in (tmp_path / "steps").iterdir()}
    assert {trial.contexts for trial in results.record.trials} <= named
    assert {ranking.searches for ranking in results.record.rankings} - {""} <= named
