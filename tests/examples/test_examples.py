"""The shipped experiments: found by their name from any folder, and part of the wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ragstone.examples import FOLDER
from ragstone.experiment.load import load_experiment
from ragstone.experiment.members import read_experiment_file

ROOT = Path(__file__).resolve().parents[2]
MAIN = "from ragstone.cli import main; main()"


def test_the_name_of_an_example_stands_for_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store goes into the current folder, and a file of that name comes first."""
    monkeypatch.chdir(tmp_path)
    demo = load_experiment("demo")
    assert demo.folder == FOLDER
    assert demo.command == "ragstone run demo"
    assert demo.file.name == "demo"
    assert demo.store.root == Path(".ragstone")
    (tmp_path / "demo").write_text("data: sample\nsystems: [{retriever: bm25}]\nmetrics: [R@5]\n")
    assert len(read_experiment_file(Path("demo")).systems) == 1


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the wheel contains."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    (package,) = (path for path in included if path.startswith("src/"))
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(
        ROOT / package, folder / "ragstone", ignore=shutil.ignore_patterns("__pycache__")
    )
    return folder


def test_an_installed_wheel_has_the_examples(installed: Path, tmp_path: Path) -> None:
    """`ragstone run demo --plan` works in an empty folder, without the repository."""
    found = subprocess.run(
        [sys.executable, "-c", MAIN, "run", "demo", "--plan"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith("8 trials of 10 queries each")


def test_the_own_system_runs_by_its_name(installed: Path, tmp_path: Path) -> None:
    """With its function and its questions, which are beside its file."""
    found = subprocess.run(
        [sys.executable, "-c", MAIN, "run", "own-system"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith("mine has Match 0.667 [")
    assert [path.name for path in tmp_path.iterdir()] == [".ragstone"]
