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
class Finding:
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


def _line(finding: Finding) -> str:
    advice = f"  -> {finding.advice}" if finding.advice else ""
    return f"[{MARKS[finding.state]}] {finding.subject}: {finding.detail}{advice}"


def _machine() -> Iterator[Finding]:
    yield Finding("python", "ok", platform.python_version())
    cores = f"{os.cpu_count() or 1} cores"
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        yield Finding("machine", "ok", cores)
    else:
        yield Finding("machine", "ok", f"{cores}, {total / 1024**3:.1f} GiB of memory")


def _extras() -> Iterator[Finding]:
    for extra, packages in extras().items():
        absent = ", ".join(package for package in packages if installed(package) is None)
        if extra and absent:
            advice = f"pip install 'ragstone[{extra}]'"
            yield Finding(f"extra {extra}", "missing", f"without {absent}", advice)
        elif extra:
            yield Finding(f"extra {extra}", "ok", ", ".join(packages))


def _models() -> Iterator[Finding]:
    for name, model in MODELS.items():
        advice = f"ragstone models fetch {name}"
        unfetched = Finding(f"model {name}", "warning", "not fetched", advice)
        yield Finding(f"model {name}", "ok", "fetched") if model.fetched else unfetched


def _disk(store: Path) -> Finding:
    place = next(p for p in (store.absolute(), *store.absolute().parents) if p.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / 1024**3:.1f} GiB free for the store"
    if free < limits.LOW_DISK_BYTES:
        return Finding("disk", "warning", detail, f"free some space, or {_OTHER_FOLDER}")
    return Finding("disk", "ok", detail)


def _store(store: Path) -> Finding:
    try:
        Store(store).check_writable()
    except RagstoneError as error:
        return Finding("store", "missing", str(error), _OTHER_FOLDER)
    return Finding("store", "ok", f"{store} is writable")
