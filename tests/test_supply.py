"""The lock of the development environment, the audit, and the licences of the dependencies."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tools.audit import LOCK, other_versions, pins, problems, vulnerable
from tools.licences import (
    PAGE,
    PER_FILE,
    PERMISSIVE,
    allowed,
    canonical,
    closure,
    declared,
    licence,
)

HASH = f"--hash=sha256:{'0' * 64}"


def test_the_lock_is_complete() -> None:
    """Every requirement of pyproject.toml is met by a version with hashes: else `make lock`."""
    text = LOCK.read_text(encoding="utf-8")
    assert problems(text) == []
    assert len(list(pins(text))) > 150


def test_the_lock_names_no_place() -> None:
    """No index, file or address: it is installed from the index that pip is configured for."""
    text = LOCK.read_text(encoding="utf-8")
    assert re.search(r"://|file:|^-| @ |\.whl|(^|\s)/", text, re.MULTILINE) is None
    assert "ragstone" not in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("numpy>=2", "not a version with hashes"),
        ("numpy @ https://host.example/numpy.whl", "not a version with hashes"),
        (f"numpy==2.4 {HASH[:-1]}", "not a version with hashes"),
        ("--index-url https://host.example", "not a version with hashes"),
        ("numpy==2.4", "numpy has no hash"),
        (f"numpy==1.26 {HASH}", "numpy>=2.0 is not met: 1.26"),
        (f"numpy==2.4 {HASH}", "click>=8.2 is not met: not locked"),
    ],
)
def test_a_lock_with_a_gap_is_found(line: str, said: str) -> None:
    """A range, an address, a missing hash, and a version that pyproject.toml does not allow."""
    assert any(said in problem for problem in problems(line))


def test_other_versions_of_an_environment_are_listed() -> None:
    """A version that is not the locked one, and a package that is not installed."""
    text = f"numpy==0.1 {HASH}\nno-such-package==1 {HASH}\nclick==0 ; sys_platform == 'none' {HASH}"
    first, second = other_versions(text)
    assert first.startswith("numpy: ")
    assert second == "no-such-package: none, locked 1"


def _program(folder: Path, output: str) -> str:
    path = folder / "audit"
    (folder / "output").write_text(output, encoding="utf-8")
    path.write_text(f"#!/bin/sh\ncat {folder / 'output'}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [{"name": "a", "version": "1", "vulns": [{"id": "X-1", "fix_versions": ["2"]}]}],
            (["a 1: X-1, mended in ['2']"], 1, 1, ""),
        ),
        ([{"name": "a", "skip_reason": "not found"}, {"name": "b", "vulns": []}], ([], 1, 2, "")),
    ],
)
def test_packages_without_an_answer_are_not_safe(
    tmp_path: Path, rows: Sequence[dict[str, Any]], expected: tuple[Any, ...]
) -> None:
    """What the index does not know is counted apart from what has no vulnerability."""
    assert vulnerable(_program(tmp_path, json.dumps({"dependencies": rows}))) == expected


def test_without_an_answer_the_reason_is_told(tmp_path: Path) -> None:
    """No program, or no network."""
    assert "FileNotFoundError" in vulnerable(str(tmp_path / "none"))[3]
    assert vulnerable(_program(tmp_path, "no network"))[3] == "exit code 0"


def test_packages_of_the_core_have_permissive_licences() -> None:
    """What the core needs, and what that needs."""
    found = {name: licence(name) for name, installed in closure(declared()[0]) if installed}
    assert len(found) >= 20
    assert [
        f"{name}: {text}"
        for name, text in found.items()
        if not allowed(text, PERMISSIVE | PER_FILE)
    ] == []


def test_no_extra_brings_the_gpl() -> None:
    """Only the group of development may have it, for a reference in a test."""
    for name, written in declared()[1].items():
        for package, installed in closure(written):
            text = licence(package) if installed else ""
            assert re.search(r"(?<!L)GPL", text) is None, (name, package, text)


def test_the_page_lists_every_dependency() -> None:
    """Of the core and of the extras, if it is locked and installed here: else `make licences`."""
    listed = set(re.findall(r"^\| ([a-z0-9-]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    core, extras, _ = declared()
    wanted = {canonical(re.match(r"[\w.-]+", one)[0]) for one in core}  # type: ignore[index]
    for written in extras.values():
        wanted |= {name for name, installed in closure(written) if installed}
    locked = {canonical(one.name) for one, _, _ in pins(LOCK.read_text(encoding="utf-8"))}
    # A newer version of a package may need others, which the next `make lock licences` lists.
    assert (wanted & locked) - listed == set()
