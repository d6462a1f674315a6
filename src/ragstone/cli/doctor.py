"""`ragstone doctor`: extras, models, disk and store of this machine, with remedies."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import click

from ragstone.cli.options import FILE, json_option, print_result
from ragstone.core import limits
from ragstone.core.environment import extras, installed
from ragstone.core.store import Store
from ragstone.errors import RagstoneError
from ragstone.models.bundled import MODELS

State = Literal["ok", "missing", "warning"]
MARKS: Final = {"ok": "ok", "warning": "!!", "missing": "--"}
_OTHER_FOLDER: Final = "give another folder: store=PATH"


@dataclass(frozen=True, slots=True)
class PartState:
    """The state of one part of this machine."""

    subject: str
    state: State
    detail: str
    advice: str = ""
    """The remedy if the state is not ok."""


@click.command("doctor")
@click.option("--store", type=FILE, default=Path(".ragstone"), help="Folder of the results.")
@json_option
def command(store: Path) -> None:
    """Check Python, extras, models, disk and store; the exit code is 1 if something is missing.

    \b
    Examples:
      ragstone doctor
      ragstone doctor --store /big/disk/ragstone --json
    """
    findings = [*_machine(), *_extras(), *_models(), _disk(store), _store(store)]
    print_result(lambda: findings, lambda: "\n".join(map(_line, findings)))
    if any(finding.state == "missing" for finding in findings):
        raise click.exceptions.Exit(1)


def _line(finding: PartState) -> str:
    advice = f"  -> {finding.advice}" if finding.advice else ""
    return f"[{MARKS[finding.state]}] {finding.subject}: {finding.detail}{advice}"


def _machine() -> Iterator[PartState]:
    yield PartState("python", "ok", platform.python_version())
    cores = f"{os.cpu_count() or 1} cores"
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        yield PartState("machine", "ok", cores)
    else:
        yield PartState("machine", "ok", f"{cores}, {total / 1024**3:.1f} GiB of memory")


def _extras() -> Iterator[PartState]:
    for extra, packages in extras().items():
        absent = ", ".join(package for package in packages if installed(package) is None)
        if extra and absent:
            advice = f"pip install 'ragstone[{extra}]'"
            yield PartState(f"extra {extra}", "missing", f"without {absent}", advice)
        elif extra:
            yield PartState(f"extra {extra}", "ok", ", ".join(packages))


def _models() -> Iterator[PartState]:
    for name, model in MODELS.items():
        advice = f"ragstone models fetch {name}"
        unfetched = PartState(f"model {name}", "warning", "not fetched", advice)
        yield PartState(f"model {name}", "ok", "fetched") if model.fetched else unfetched


def _disk(store: Path) -> PartState:
    place = next(p for p in (store.absolute(), *store.absolute().parents) if p.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / 1024**3:.1f} GiB free for the store"
    if free < limits.LOW_DISK_BYTES:
        return PartState("disk", "warning", detail, f"free some space, or {_OTHER_FOLDER}")
    return PartState("disk", "ok", detail)


def _store(store: Path) -> PartState:
    try:
        Store(store).check_writable()
    except RagstoneError as error:
        return PartState("store", "missing", str(error), _OTHER_FOLDER)
    return PartState("store", "ok", f"{store} is writable")
