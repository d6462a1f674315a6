"""The files of a model that a library loads: found on this machine or the hub, and digested.

A model is a bundled model's name, a path, or a name on the hub (`owner/name`), looked up in this
order; a hub's model is taken from the hub's cache, and downloaded only if it is missing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ragstone.core import limits
from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.core.offline import network_forbidden
from ragstone.core.screen_text import cause_of
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.models.bundled import MODELS
from ragstone.models.files import bundled, is_local, known_digest, model_digest, model_file
from ragstone.models.own_code import CODE_FILES, check_code

FROM_FILES: Final = {"local_files_only": True, "trust_remote_code": False}
"""Arguments of transformers and sentence-transformers: nothing is downloaded, and no code of a
model's folder is run or offered."""
WITH_CODE: Final = FROM_FILES | {"trust_remote_code": True}
"""The same for a model whose own code may run."""
_HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@dataclass(frozen=True)
class ModelKind:
    """The files that are read of one kind of model, and the packages that run it."""

    purpose: str
    """The purpose of the packages, for the error if one is missing."""
    extra: str
    """The extra of Ragstone that installs the packages."""
    packages: tuple[str, ...]
    weights: tuple[str, ...] = ("*.safetensors",)
    """Patterns of weight files, the preferred form first; other forms are not read."""
    settings: tuple[str, ...] = ("*.json", "*.jinja", "*.model", "*.txt", "*.tiktoken")
    """Patterns of the other files that the output depends on."""
    gguf: bool = False
    """Whether a single GGUF file is a model too."""
    own_types: bool = False
    """Whether the packages run types of models that transformers needs code for."""
    own_code: bool = False
    """Whether code of the model's folder may run; it is then among the files that are read."""

    def with_code(self, commit: str) -> ModelKind:
        """Return the same kind with a model's own code, if a commit allows it."""
        settings = (*self.settings, *CODE_FILES)
        return replace(self, settings=settings, own_code=True) if commit else self

    def require(self) -> None:
        """Raise `MissingDependency` if a package is not installed; nothing is imported."""
        require(self.purpose, self.extra, *self.packages)


TRANSFORMERS_LM: Final = ModelKind(
    "a model run by transformers",
    "hf",
    ("torch", "transformers", "gguf", "accelerate"),
    gguf=True,
)
VLLM: Final = replace(
    TRANSFORMERS_LM,
    purpose="a model run by vLLM",
    extra="vllm",
    packages=("vllm",),
    own_types=True,
)
SENTENCE_TRANSFORMERS: Final = ModelKind(
    "a model run by sentence-transformers", "st", ("sentence_transformers",)
)
ENCODER: Final = ModelKind(
    "an encoder run by transformers",
    "hf",
    ("torch", "transformers"),
    # microsoft/deberta-xlarge-mnli has no other form. Torch reads such a file as tensors alone and
    # runs no code from it.
    weights=("*.safetensors", "pytorch_model*.bin"),
    settings=("*.json", "*.txt", "*.model"),
)


def find_model(name: str, hub_revision: str = "", kind: ModelKind = TRANSFORMERS_LM) -> Path:
    """Return the folder of a model, or its GGUF file.

    Raises:
        ConfigError: the name is neither that of a bundled model nor a path nor one of the hub.
        MissingDependency: a package is missing that downloads or runs a model of the hub.
        ModelFileError: there is no such model, one of its files is missing, or it needs code that
            is not allowed.
    """
    found = _find(name, hub_revision, kind)
    if found.is_dir() and (kind.own_code or not kind.own_types):
        check_code(found, allowed=kind.own_code)
    return found


def _find(name: str, hub_revision: str, kind: ModelKind) -> Path:
    if name in MODELS:
        file = model_file(name)
        return file if kind.gguf else _complete(file.parent, kind)
    path = Path(name).expanduser()
    if path.is_dir():
        return _complete(path, kind)
    if path.is_file() and kind.gguf:
        return path
    if _HUB_NAME.fullmatch(name) and not path.exists() and not name.endswith(".gguf"):
        return _from_hub(name, hub_revision, kind)
    if is_local(name):
        raise ModelFileError(
            f"there is no model at {name!r}; give a folder (model=FOLDER), "
            f"{'a GGUF file, ' if kind.gguf else ''}a name on the hub (owner/name), or a bundled "
            f"model: {', '.join(MODELS)}"
        )
    bundled(name)
    raise ConfigError(f"unknown model {name!r}")


def weights_digest(name: str, hub_revision: str = "", kind: ModelKind = TRANSFORMERS_LM) -> str:
    """Return the SHA-256 of a model's file, or of the digests of all files that are read.

    >>> weights_digest("smollm2-135m-instruct")[:12]
    'b179c9523d0e'
    """
    if name in MODELS and kind.gguf:
        return model_digest(name)
    path = find_model(name, hub_revision, kind)
    if path.is_file():
        return known_digest(path)
    return files_digest(path, *kind.settings, _weights(path, kind))


def files_digest(folder: Path, *patterns: str) -> str:
    """Return the digest of the files of a folder that match a pattern, with their paths in it."""
    files = {file for pattern in patterns for file in folder.glob(pattern)}
    return fingerprint({str(file.relative_to(folder)): known_digest(file) for file in files})


def _weights(folder: Path, kind: ModelKind) -> str:
    """Return the pattern of the weight files that are read; "" if there are none."""
    return next((pattern for pattern in kind.weights if any(folder.glob(pattern))), "")


def _complete(folder: Path, kind: ModelKind) -> Path:
    if missing := _missing(folder, kind):
        pickled = "" if len(kind.weights) > 1 else " (pickled weights are not read)"
        raise ModelFileError(
            f"the model folder {folder} has no {missing}; it needs config.json, the tokenizer's "
            f"files and weights as {' or '.join(kind.weights)}{pickled}, as save_pretrained of "
            "transformers writes them"
        )
    return folder


def _missing(folder: Path, kind: ModelKind) -> str:
    """Return the first file that is missing in a model's folder; "" if it is complete."""
    if not (folder / "config.json").is_file():
        return "config.json"
    if not _weights(folder, kind):
        return kind.weights[0]
    listed = _listed_parts(folder / "model.safetensors.index.json")
    return next((part for part in listed if not (folder / part).is_file()), "")


def _listed_parts(index: Path) -> list[str]:
    """Return the parts of the weights that an index lists; they are files beside it.

    A part elsewhere would be read without being in the model's digest.
    """
    if not index.is_file():
        return []
    try:
        parts = sorted({str(one) for one in json.loads(index.read_bytes())["weight_map"].values()})
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(
            f"{index} has no list of the parts of the weights ({type(error).__name__}); copy the "
            "model's folder again"
        ) from error
    for part in parts:
        if Path(part).name != part or "\\" in part or not part.endswith(".safetensors"):
            raise ModelFileError(
                f"{index} names {part[: limits.MAX_CAUSE_CHARACTERS]!r} as a part of the weights; "
                "a part is a file *.safetensors in the same folder. Copy the model's folder again"
            )
    return parts


def _from_hub(name: str, revision: str, kind: ModelKind) -> Path:
    """Return the folder of a hub's model in the hub's cache, downloaded if it is missing."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingDependency(
            f"the hub's model {name!r}", "huggingface_hub", kind.extra
        ) from error

    def fetched(*patterns: str, local: bool) -> Path:
        return Path(
            snapshot_download(
                name,
                revision=revision or None,
                local_files_only=local,
                allow_patterns=[*kind.settings, *patterns],
            )
        )

    try:
        return _complete(fetched(*kind.weights, local=True), kind)
    except (OSError, ValueError, ModelFileError) as error:  # not in the cache, or not complete
        if network_forbidden():
            raise _not_downloaded(name, error) from error
    # A model that cannot be run is not downloaded.
    kind.require()
    try:
        for pattern in kind.weights:
            folder = fetched(pattern, local=False)
            if _weights(folder, kind):
                break
        return _complete(folder, kind)
    # Errors of the connection reach here as OSError or RuntimeError.
    except (OSError, ValueError, RuntimeError) as error:
        raise _not_downloaded(name, error) from error


def _not_downloaded(name: str, error: Exception) -> ModelFileError:
    cause = cause_of(error)
    return ModelFileError(
        f"the model {name!r} is not in the hub's cache on this machine and could not be "
        f"downloaded ({cause}); there is no file or folder of that name either. On a machine with "
        f"a network, run: hf download {name} --local-dir FOLDER; then name it: model=FOLDER"
    )
