"""Where a model for transformers or vLLM lies on this machine, and the digest of its bytes.

A model is named by a bundled model's name, by a path (a GGUF file, or a folder as transformers
saves it), or by its name on the hub, `owner/name`. Weights are safetensors or GGUF, never pickles.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from ragstone.core import limits
from ragstone.core.fingerprint import fingerprint
from ragstone.core.offline import network_forbidden
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.models.bundled import MODELS
from ragstone.models.files import bundled, is_local, known_digest, model_digest, model_file

_HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_READ: Final = ("*.safetensors", "*.json", "*.jinja", "*.model", "*.txt", "*.tiktoken")
"""What decides a model's output: weights, configuration, tokenizer and chat template."""


def find_model(name: str, hub_revision: str = "", *, extra: str = "hf") -> Path:
    """Return the GGUF file or the folder of a model.

    A model of the hub is looked for in the hub's cache, and downloaded where it is not there and
    the network is not forbidden.

    Args:
        name: as above.
        hub_revision: a commit, tag or branch of the hub.
        extra: of Ragstone, to be named where the hub's package is missing.

    Raises:
        ConfigError: the name is neither a bundled model's nor a path nor a hub's.
        ModelFileError: there is no such model, or it has no weights that can be read.
    """
    if name in MODELS:
        return model_file(name)
    path = Path(name).expanduser()
    if path.exists():
        return path if path.is_file() else _checked(path)
    if _HUB_NAME.fullmatch(name) and not name.endswith(".gguf"):
        return _from_hub(name, hub_revision, extra)
    if is_local(name):
        raise ModelFileError(
            f"there is no model at {name!r}; give the path of a GGUF file or of a folder with "
            f"config.json and safetensors, or a bundled model: {', '.join(MODELS)}"
        )
    bundled(name)
    raise ConfigError(f"unknown model {name!r}")


def weights_digest(name: str, hub_revision: str = "", *, extra: str = "hf") -> str:
    """Return the SHA-256 of a model's file, or of the digests of all files that a folder needs.

    >>> weights_digest("smollm2-135m-instruct")[:12]
    'b179c9523d0e'
    """
    if name in MODELS:
        return model_digest(name)
    path = find_model(name, hub_revision, extra=extra)
    if path.is_file():
        return known_digest(path)
    files = sorted({file for pattern in _READ for file in path.glob(pattern)})
    return fingerprint({file.name: known_digest(file) for file in files})


def _checked(folder: Path) -> Path:
    missing = _missing(folder)
    if missing:
        raise ModelFileError(
            f"the model folder {folder} has no {missing}; it must hold what transformers' "
            "save_pretrained writes, with its weights as safetensors (pickled weights are not read)"
        )
    return folder


def _missing(folder: Path) -> str:
    """Return what a model's folder lacks; empty where it is whole."""
    if not (folder / "config.json").is_file():
        return "config.json"
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        parts = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        return next((part for part in parts if not (folder / part).is_file()), "")
    return "" if any(folder.glob("*.safetensors")) else "*.safetensors"


def _from_hub(name: str, revision: str, extra: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingDependency(f"the hub's model {name!r}", "huggingface_hub", extra) from error

    def fetched(*, local: bool) -> Path:
        return Path(
            snapshot_download(
                name,
                revision=revision or None,
                local_files_only=local,
                allow_patterns=list(_READ),
            )
        )

    try:
        folder = fetched(local=True)
        if not _missing(folder):
            return folder
    except (OSError, ValueError):  # not in the cache: the hub's error is both
        pass
    if network_forbidden():
        raise ModelFileError(
            f"offline: the model {name!r} is not in the hub's cache on this machine; fetch it "
            f"first with: hf download {name}, or name a folder"
        )
    try:
        return _checked(fetched(local=False))
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"there is no file or folder {name!r}, and the hub's model of that name could not be "
            f"had: {' '.join(str(error).split())[: limits.MAX_CAUSE_CHARACTERS]}"
        ) from error
