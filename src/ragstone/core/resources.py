"""Free memory and disk space, available CPUs, and the check of work against them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ragstone.errors import RagstoneError

_CGROUPS: Final = Path("/sys/fs/cgroup")


def free_ram() -> int | None:
    """Return the free memory in bytes, or None if the system does not report it.

    It is the minimum over the machine and the control groups (container, job) of this process.
    Memory used as a cache of files counts as free.
    """
    known = (_machine_free(), *(_left(*files) for files in _group_files()))
    return min((free for free in known if free is not None), default=None)


def free_disk(folder: Path) -> int:
    """Return the free bytes on the disk of a folder, which may not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def require_memory_and_disk(
    need_ram: int, need_disk: int, work: str, *, folder: Path | None = None, way_out: str = ""
) -> None:
    """Raise `RagstoneError` if memory or disk space is insufficient for some work.

    Args:
        need_ram: peak memory of the work in bytes.
        need_disk: bytes that the work writes to `folder`.
        work: description of the work, such as "indexing 1,000,000 passages".
        folder: target folder; None skips the check of the disk.
        way_out: remedy in the error message; empty for the default one.

    >>> require_memory_and_disk(1_000, 0, "counting to ten")
    """
    ram = free_ram()
    if ram is not None and need_ram > ram:
        raise RagstoneError(
            f"{work} needs about {size(need_ram)} of memory, and {size(ram)} are free; "
            f"{way_out or 'close other programs or use a machine with more memory'}"
        )
    disk = None if folder is None else free_disk(folder)
    if disk is not None and need_disk > disk:
        raise RagstoneError(
            f"{work} needs about {size(need_disk)} on the disk of {folder}, and {size(disk)} are "
            f"free; {way_out or 'make room or give another folder with store=PATH'}"
        )


def size(count: int) -> str:
    """Return a number of bytes as text in MB or GB.

    >>> size(1_536_000_000), size(20_000_000)
    ('1.5 GB', '20.0 MB')
    """
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"  # noqa: PLR2004


def _machine_free() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in fields else None


def _group_files() -> Iterator[tuple[Path, str, str]]:
    """Yield the possible folder and files of each control group of this process."""
    for root in (_CGROUPS, _CGROUPS / "memory"):
        for folder in _groups(root):
            yield folder, "memory.max", "memory.current"  # version 2
            yield folder, "memory.limit_in_bytes", "memory.usage_in_bytes"  # version 1


def _groups(root: Path) -> list[Path]:
    """Return the folders of this process's control group and of its ancestors, below `root`."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    own = [line.split(":", 2)[2].strip("/") for line in lines if line.count(":") > 1]
    folders = {root}
    for path in own:
        parts = Path(path).parts
        folders |= {root.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)}
    return [folder for folder in folders if folder.is_dir()]


def _left(folder: Path, limit_name: str, usage_name: str) -> int | None:
    """Return the free memory of a control group; its cache of files counts as free."""
    try:
        limit = (folder / limit_name).read_text(encoding="ascii").strip()
        usage = int((folder / usage_name).read_text(encoding="ascii"))
        pairs = (line.split() for line in (folder / "memory.stat").read_text("ascii").splitlines())
        reclaimable = {name: int(value) for name, value in pairs}.get("inactive_file", 0)
    except (OSError, ValueError):
        return None
    return int(limit) - usage + reclaimable if limit.isdigit() else None


def available_cpus() -> int:
    """Return the number of CPUs available to this process."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
