"""Free memory and disk space, with and without a container, and the check of work."""

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
    """The free memory is the container's if it has less than the machine."""
    _group(tmp_path / "cg", "1000", 700, 200)
    monkeypatch.setattr(room, "_CGROUPS", tmp_path / "cg")
    assert free_ram() == 500


def test_a_group_without_a_limit_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`max` is not a limit: the free memory is the machine's."""
    _group(tmp_path / "cg", "max", 700, 200)
    monkeypatch.setattr(room, "_CGROUPS", tmp_path / "cg")
    monkeypatch.setattr(room, "_machine_free", lambda: 12_345)
    assert free_ram() == 12_345


def test_a_folder_that_does_not_exist_has_the_free_space_of_its_disk(tmp_path: Path) -> None:
    """The nearest existing folder determines the disk."""
    assert free_disk(tmp_path / "not" / "yet") > 0


def test_too_little_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error contains the needed and the free memory and a remedy."""
    monkeypatch.setattr(room, "free_ram", lambda: 2_000_000_000)
    require_memory_and_disk(1_999_999_999, 0, "indexing")
    with pytest.raises(RagstoneError, match=r"indexing needs about 3\.0 GB of memory, and 2\.0 GB"):
        require_memory_and_disk(3_000_000_000, 0, "indexing")


def test_too_little_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error contains the folder and the caller's remedy."""
    monkeypatch.setattr(room, "free_disk", lambda _: 10_000_000)
    with pytest.raises(RagstoneError, match=r"20\.0 MB on the disk of .*take fewer passages"):
        require_memory_and_disk(0, 20_000_000, "it", folder=tmp_path, way_out="take fewer passages")


def test_work_is_allowed_if_free_memory_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check raises nothing."""
    monkeypatch.setattr(room, "free_ram", lambda: None)
    require_memory_and_disk(10**18, 0, "anything")
