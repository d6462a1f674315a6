"""A model's own code: Python files of its folder, which run only for a commit that is named.

A commit is the SHA-1 of its files: a person who may write to the repository on the hub cannot
change what it contains. All Python files are in the model's digest, thus in the keys and in the
passport.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.core import limits
from ragstone.errors import ConfigError, ModelFileError

CODE_FILES: Final = ("*.py", "**/*.py")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_NAMING: Final = ("config.json", "tokenizer_config.json", "modules.json")
"""Files of a model's folder that name classes."""
_LONG: Final = frozenset({"tokenizer.json", "vocab.json"})
"""Files without such names that take long to read."""
_OWN_MODULES: Final = "sentence_transformers."


def pin_code(component: Any, model: str) -> None:
    """Take the model of a frozen component from the commit of its `model_code`, if it has one.

    Raises:
        ConfigError: `model_code` does not name a whole commit of a model on the hub.
    """
    if component.model_code:
        _check_commit(component.model_code, model, component.hub_revision)
        object.__setattr__(component, "hub_revision", component.model_code)


def _check_commit(commit: str, model: str, hub_revision: str) -> None:
    if not _COMMIT.fullmatch(commit):
        raise ConfigError(
            f"model_code must be a whole commit of the hub, 40 digits 0-9a-f, found "
            f"{commit[: limits.MAX_NAMED_CHARACTERS]!r}: a branch or a tag may get other code",
            key="model_code",
        )
    if hub_revision not in {"", commit}:
        raise ConfigError(
            "model_code and hub_revision name different commits; remove hub_revision",
            key="hub_revision",
        )
    if Path(model).expanduser().exists() or model.count("/") != 1:
        raise ConfigError(
            f"model_code is for a model's name on the hub (owner/name), and {model!r} is not one: "
            "a folder has no commit; serve it by a program of its own, and use `endpoint` or "
            "`chat` with its address",
            key="model_code",
        )


def check_code(folder: Path, *, allowed: bool) -> None:
    """Raise `ModelFileError` if a model's folder needs code that is not allowed, or not in it."""
    if allowed:
        # Parts of a model are in folders of their own.
        files = (path for path in folder.rglob("*.json") if path.name not in _LONG)
        every = sorted({name for path in files for name in _code_names(path)})
        if foreign := [name for name in every if "--" in name]:
            raise ModelFileError(
                f"the model {folder} takes code from another repository ({foreign[0][:200]!r}), "
                "which model_code does not pin; serve it by a program of its own, and use "
                "`endpoint` or `chat` with its address"
            )
        return
    names = sorted({name for file in _NAMING for name in _code_names(folder / file)})
    if names and not _is_known(folder):
        raise needs_code(str(folder), names[0])


def needs_code(model: str, name: str) -> ModelFileError:
    """Return the error of a model whose code is not allowed; `name` is that of a class."""
    return ModelFileError(
        f"the model {model} needs code of its own ({name[:200]!r}), which is not run. "
        "Serve it by a program of its own, and use `endpoint` or `chat` with its address; or "
        "read the code of one commit, and allow it with model_code=COMMIT in hf, vllm, "
        "sentence-transformers, sentence-transformers-sparse or cross-encoder"
    )


def _code_names(path: Path) -> Iterator[str]:
    """Yield the classes outside of the libraries that a file of a model's folder names."""
    try:
        found: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return  # Loading says what is wrong.
    if isinstance(found, Mapping) and isinstance(found.get("auto_map"), Mapping):
        for named in found["auto_map"].values():
            parts = named if isinstance(named, list) else [named]
            yield from (part for part in parts if isinstance(part, str))
    for module in found if isinstance(found, list) else ():
        named = module.get("type") if isinstance(module, Mapping) else None
        if isinstance(named, str) and not named.startswith(_OWN_MODULES):
            yield named


def _is_known(folder: Path) -> bool:
    """Return whether transformers has the model's type itself, so that no code is needed."""
    try:
        found = json.loads((folder / "config.json").read_bytes())
        from transformers import CONFIG_MAPPING
    except (OSError, ValueError, ImportError):
        return True  # Loading says what is wrong.
    modules = list(_code_names(folder / "modules.json"))
    return not modules and isinstance(found, Mapping) and found.get("model_type") in CONFIG_MAPPING
