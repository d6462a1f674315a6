"""LoRA adapters in a folder as PEFT writes it: small weights that are added to those of a base."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.bundled import MODELS
from ragstone.models.locate import files_digest
from ragstone.models.parameters import gguf_text, is_whole

CONFIG: Final = "adapter_config.json"
WEIGHTS: Final = "adapter_model.safetensors"
RECORD: Final = "training.json"
SOURCE: Final = "ragstone.source"
"""Key in a GGUF file of the SHA-256 of the file that it was made from, with equal weights."""
_UNUSUAL: Final = (
    "alora_invocation_tokens",
    "alpha_pattern",
    "arrow_config",
    "bias",
    "fan_in_fan_out",
    "kasa_config",
    "layer_replication",
    "lora_bias",
    "modules_to_save",
    "rank_pattern",
    "target_parameters",
    "trainable_token_indices",
    "use_bdlora",
    "use_dora",
    "use_qalora",
)
_OF_CHANGED_BASES: Final = ("corda", "loftq", "lora_ga", "olora", "pissa")
"""Beginnings of the values of `init_lora_weights` for which peft changes the base's weights when it
loads the adapter."""
_EMPTY: Final[tuple[Any, ...]] = ("none", {}, [])


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter on this machine."""

    folder: Path
    base: str
    """The model that it was trained on: a bundled model's name, a path, or a name on the hub."""
    base_digest: str
    """SHA-256 of the base's weights; "" if nobody recorded it."""
    digest: str
    """SHA-256 of its configuration and weights."""
    r: int
    alpha: float
    targets: tuple[str, ...]
    """The layers that it changes, or a pattern of their names."""
    scale: float
    """The factor of its update, as PEFT computes it from `alpha` and `r`."""
    unusual: tuple[str, ...] = ()
    """Further features of PEFT that it uses, which llama.cpp and vLLM do not have."""

    @property
    def weights(self) -> Path:
        """The file of its weights."""
        return self.folder / WEIGHTS

    def require_plain(self, program: str) -> None:
        """Raise `ConfigError` if it uses features that a program does not have."""
        if self.unusual:
            raise ConfigError(
                f"the adapter {self.folder} uses {', '.join(self.unusual)}, which {program} does "
                "not have; merge it: ragstone train merge",
                key="adapter",
                value=str(self.folder),
            )

    def check_base(self, model: str, digest: str) -> None:
        """Raise `ConfigError` if it was trained on other weights than those of a model.

        Without a recorded digest nothing is compared. A copy of the base with 16-bit weights
        (docs/adapters.md) names the base in its metadata. The digest of a folder says nothing about
        a GGUF file made from it: then the names and shapes of the layers are all that is compared,
        when the adapter is loaded.

        Args:
            model: the name of the model, or its path.
            digest: the digest of the model's weights.
        """
        if not self.base_digest or digest == self.base_digest:
            return
        file = Path(model).expanduser()
        if file.is_file():
            of_folder = self.base not in MODELS and not self.base.endswith(".gguf")
            if of_folder or gguf_text(file, SOURCE) == self.base_digest:
                return
        raise ConfigError(
            f"the adapter {self.folder} was trained on {self.base!r} (SHA-256 "
            f"{self.base_digest[:12]}) and does not fit the model {model!r} (SHA-256 "
            f"{digest[:12]}); leave out `model` to use the adapter's base",
            key="adapter",
            value=str(self.folder),
        )


def read_adapter(folder: Path | str, base: str = "") -> Adapter:
    """Return the adapter in a folder: one that `ragstone train` made, or anybody's.

    Args:
        folder: the folder as PEFT writes it.
        base: the base's name if the folder does not name it.

    Raises:
        ModelFileError: a file is missing or cannot be read.
        ConfigError: it is not a LoRA adapter, its training has not ended, or its base is unknown.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise ModelFileError(f"there is no adapter at {folder}: give a folder as PEFT writes it")
    record = _json(folder / RECORD) if (folder / RECORD).is_file() else {}
    if record and not record.get("digest"):
        raise ConfigError(
            f"the training of the adapter {folder} has not ended; run the same ragstone train again"
        )
    if (folder / "config.json").is_file() and not (folder / CONFIG).is_file():
        raise ConfigError(f"{folder} is a whole model and no adapter; give it as `model`")
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise ModelFileError(
                f"the adapter {folder} has no {name} (pickled weights are not read); save it with "
                "save_pretrained of PEFT"
            )
    if not is_whole(folder / WEIGHTS):
        raise ModelFileError(
            f"{folder / WEIGHTS} is damaged: its header and its size do not agree; copy the "
            "adapter again, or remove the folder and train again"
        )
    config = _json(folder / CONFIG)
    if config.get("peft_type") != "LORA":
        raise ConfigError(f"the adapter {folder} is {config.get('peft_type')!r}: only LORA is used")
    base = record.get("base") or config.get("base_model_name_or_path") or base
    if not base:
        raise ConfigError(f"the adapter {folder} does not name its base; give it with `model`")
    return Adapter(
        folder,
        base,
        record.get("base_digest", ""),
        files_digest(folder, CONFIG, WEIGHTS),
        *_shape(folder, config),
    )


def _shape(folder: Path, config: dict[str, Any]) -> tuple[Any, ...]:
    """Return rank, alpha, targets, scale, and the unusual features."""
    try:
        r, alpha = int(config["r"]), float(config["lora_alpha"])
        scale = alpha / (r**0.5 if config.get("use_rslora") else r)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ModelFileError(
            f"{folder / CONFIG} has no usable r and lora_alpha: {error}"
        ) from error
    listed = config.get("target_modules") or ()
    targets = (listed,) if isinstance(listed, str) else tuple(sorted(listed))
    unusual = tuple(name for name in _UNUSUAL if config.get(name) not in (None, False, *_EMPTY))
    if str(config.get("init_lora_weights", "")).lower().startswith(_OF_CHANGED_BASES):
        unusual += ("init_lora_weights",)
    return r, alpha, targets, scale, unusual


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ModelFileError(f"{path} is not a JSON object")
    return found
