"""The workflows of the repository: what they call exists, and nothing that they call can change."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragstone.version import __version__

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def jobs(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the jobs of a workflow."""
    yield from yaml.safe_load(path.read_text("utf-8"))["jobs"].values()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_target_exists(path: Path) -> None:
    """The names after `make`, also those of a matrix, are targets of the Makefile."""
    called: list[str] = []
    for job in jobs(path):
        for step in job["steps"]:
            called += re.findall(r"\bmake ((?:[A-Za-z_]+=?\S* ?)+)", step.get("run", ""))
        called += job.get("strategy", {}).get("matrix", {}).get("target", [])
    words = [word for line in called for word in line.split() if re.fullmatch(r"[a-z]+", word)]
    assert set(words) <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_jobs_have_few_rights(path: Path) -> None:
    """An action is named by its commit; rights are given per job, and each job has a time limit."""
    document = yaml.safe_load(path.read_text("utf-8"))
    assert document["permissions"] == {}
    for job in jobs(path):
        assert job["permissions"]
        assert "timeout-minutes" in job or job.get("needs")
        for step in job["steps"]:
            assert "uses" not in step or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_only_ci_itself_fails_because_of_skips(path: Path) -> None:
    """GitHub sets `CI`, with which a skip fails the run; empty if packages of tests are absent."""
    runs = [step.get("run", "") for job in jobs(path) for step in job["steps"]]
    if any(re.search(r"pytest|make (LOCKED=1 )?(test|lowest|\$)", run) for run in runs):
        assert yaml.safe_load(path.read_text("utf-8"))["env"] == {"CI": ""}


def test_the_tested_versions_of_python_are_supported() -> None:
    """The lowest one of the matrix is that of the package, on three systems."""
    matrix = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
    matrix = matrix["jobs"]["systems"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f">={matrix['python'][0]}" == project["requires-python"]
    assert len(matrix["python"]) == len(matrix["system"]) == 3


def test_the_citation_has_the_version_of_the_package() -> None:
    """CITATION.cff is renewed with each release."""
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == __version__
