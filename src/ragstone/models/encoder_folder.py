"""Where an encoder for transformers lies on this machine, and the digest of its bytes.

Unlike generators, encoders are read from `pytorch_model.bin` too: microsoft/deberta-xlarge-mnli is
published in no other form. Torch reads such a file as tensors alone and runs nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ragstone.core import limits
from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.core.offline import network_forbidden
from ragstone.errors import MissingDependency, ModelFileError
from ragstone.models.bundled import MODELS
from ragstone.models.files import known_digest, model_file

_HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_SETTINGS: Final = ("*.json", "*.txt", "*.model")
_WEIGHTS: Final = (("*.safetensors",), ("pytorch_model*.bin",))
"""Forms of weights, the preferred one first."""


def encoder_folder(model: str) -> Path:
    """Return the folder of an encoder: a bundled one's, a path's, or the hub's in its cache.

    A model of the hub that is not in the cache is downloaded, unless the network is forbidden.

    Raises:
        MissingDependency: a hub's name without the hub's package.
        ModelFileError: there is no such folder, or it has no configuration or no weights.
    """
    if model in MODELS:
        return _checked(model_file(model).parent)
    path = Path(model).expanduser()
    if path.is_dir():
        return _checked(path)
    if _HUB_NAME.fullmatch(model) and not path.exists():
        return _from_hub(model)
    raise ModelFileError(f"there is no folder of an encoder at {model!r}; {_way_out(model)}")


def encoder_digest(model: str) -> str:
    """Return the digest of the files that an encoder's output depends on."""
    folder = encoder_folder(model)
    patterns = (*_SETTINGS, *_weights(folder))
    files = sorted({file for pattern in patterns for file in folder.glob(pattern)})
    return fingerprint({file.name: known_digest(file) for file in files})


def _weights(folder: Path) -> Sequence[str]:
    """Return the form of weights that the folder has; empty where it has none."""
    return next((form for form in _WEIGHTS if any(map(any, map(folder.glob, form)))), ())


def _checked(folder: Path) -> Path:
    if not (folder / "config.json").is_file() or not _weights(folder):
        raise ModelFileError(
            f"the folder {folder} holds no encoder: it must have config.json, the tokenizer's "
            "files and weights (*.safetensors or pytorch_model.bin), as save_pretrained writes them"
        )
    return folder


def _from_hub(model: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingDependency(f"the encoder {model!r}", "huggingface_hub", "hf") from error

    def fetched(patterns: Sequence[str], *, local: bool) -> Path:
        return Path(snapshot_download(model, allow_patterns=list(patterns), local_files_only=local))

    try:
        return _checked(fetched(_SETTINGS, local=True))
    except (OSError, ValueError, ModelFileError) as error:  # not in the cache, or not whole
        if network_forbidden():
            raise _absent(model, error) from error
    # Nothing is downloaded that could not be run.
    require("an encoder run by transformers", "hf", "torch", "transformers")
    try:
        folder = fetched((*_SETTINGS, *_WEIGHTS[0]), local=False)
        return _checked(folder if _weights(folder) else fetched(_WEIGHTS[1], local=False))
    # The hub's client lets its connection's errors through, which are OSErrors or RuntimeErrors.
    except (OSError, ValueError, RuntimeError) as error:
        raise _absent(model, error) from error


def _absent(model: str, error: Exception) -> ModelFileError:
    why = " ".join(str(error).split())[: limits.MAX_CAUSE_CHARACTERS]
    return ModelFileError(
        f"the encoder {model!r} is not in the hub's cache on this machine, and could not be had "
        f"from the hub ({why}); {_way_out(model)}"
    )


def _way_out(model: str) -> str:
    return (
        f"download it on a machine with network (hf download {model} --local-dir FOLDER) and name "
        f"the folder as the encoder: model=FOLDER"
    )
