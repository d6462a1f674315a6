"""What is free, inside a container and outside, and the refusal of work that would not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.core import resources as room
from ragstone.core.resources import free_disk, free_ram, require_memory_and_disk
from ragstone.errors import RagstoneError


def _group(folder: Path, limit: str, usage: int, file_copies: int) -> None:
    folder.mkdir(parents=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{usage}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {file_copies}\n")


def test_a_group_with_a_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of a container is what counts where it leaves less than the machine."""
    _group(tmp_path / "cg", "1000", 700, 200)
    monkeypatch.setattr(room, "_CGROUPS", tmp_path / "cg")
    assert free_ram() == 500


def test_a_group_without_a_limit_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`max` means no limit: the machine's own figure counts."""
    _group(tmp_path / "cg", "max", 700, 200)
    monkeypatch.setattr(room, "_CGROUPS", tmp_path / "cg")
    monkeypatch.setattr(room, "_machine_free", lambda: 12_345)
    assert free_ram() == 12_345


def test_a_folder_to_be_made_has_the_room_of_its_disk(tmp_path: Path) -> None:
    """The disk is asked through the nearest folder that exists."""
    assert free_disk(tmp_path / "not" / "yet") > 0


def test_too_little_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what is needed, what is free, and what to do."""
    monkeypatch.setattr(room, "free_ram", lambda: 2_000_000_000)
    require_memory_and_disk(1_999_999_999, 0, "indexing")
    with pytest.raises(RagstoneError, match=r"indexing needs about 3\.0 GB of memory, and 2\.0 GB"):
        require_memory_and_disk(3_000_000_000, 0, "indexing")


def test_too_little_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the folder, and the way out that the caller knows."""
    monkeypatch.setattr(room, "free_disk", lambda _: 10_000_000)
    with pytest.raises(RagstoneError, match=r"20\.0 MB on the disk of .*take fewer passages"):
        require_memory_and_disk(0, 20_000_000, "it", folder=tmp_path, way_out="take fewer passages")


def test_a_system_that_does_not_say_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where free memory is unknown, the work is tried."""
    monkeypatch.setattr(room, "free_ram", lambda: None)
    require_memory_and_disk(10**18, 0, "anything")
