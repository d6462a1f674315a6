"""What this machine has, what is missing, and how to get it."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragstone.core import limits
from ragstone.core.environment import extras, installed
from ragstone.core.store import Store
from ragstone.errors import RagstoneError
from ragstone.models.bundled import MODELS

State = Literal["ok", "missing", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `advice` says what to do where it is not ok."""

    subject: str
    state: State
    detail: str
    advice: str = ""


def examine(store: Path) -> list[Finding]:
    """Return what was found about Python, extras, models, disk, memory and the store."""
    return [_python(), *_extras(), *_models(), _disk(store), _memory(), _store(store)]


def _python() -> Finding:
    return Finding("python", "ok", platform.python_version())


def _extras() -> Iterator[Finding]:
    for extra, packages in extras().items():
        if not extra:
            continue
        lacking = [package for package in packages if installed(package) is None]
        if lacking:
            advice = f"pip install 'ragstone[{extra}]'"
            yield Finding(f"extra {extra}", "missing", f"lacks {', '.join(lacking)}", advice)
        else:
            yield Finding(f"extra {extra}", "ok", ", ".join(packages))


def _models() -> Iterator[Finding]:
    for name, model in MODELS.items():
        if model.fetched:
            yield Finding(f"model {name}", "ok", "fetched")
        else:
            advice = f"ragstone models fetch {name}"
            yield Finding(f"model {name}", "warning", "not fetched", advice)


def _disk(store: Path) -> Finding:
    place = next(p for p in (store.absolute(), *store.absolute().parents) if p.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / 1024**3:.1f} GiB free where the store is"
    if free < limits.LOW_DISK_BYTES:
        return Finding("disk", "warning", detail, "make room, or give another folder: store=PATH")
    return Finding("disk", "ok", detail)


def _memory() -> Finding:
    cores = os.cpu_count() or 1
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return Finding("machine", "ok", f"{cores} cores")
    return Finding("machine", "ok", f"{cores} cores, {total / 1024**3:.1f} GiB of memory")


def _store(store: Path) -> Finding:
    try:
        Store(store).check_writable()
    except RagstoneError as error:
        return Finding("store", "missing", str(error), "give another folder: store=PATH")
    return Finding("store", "ok", f"{store} can be written")
