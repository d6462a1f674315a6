"""An adapter merged into its base: a model of its own, as a folder or as a GGUF file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ragstone.core.atomic_files import atomic_files, atomic_folder
from ragstone.errors import ConfigError
from ragstone.models.adapter_gguf import gguf_updates
from ragstone.models.adapters import Adapter
from ragstone.models.causal_lm import add_adapter, load_causal_lm
from ragstone.models.files import known_digest
from ragstone.models.gguf_files import read_gguf, write_f16
from ragstone.models.locate import find_model, weights_digest
from ragstone.models.quiet import quiet
from ragstone.models.seq2seq import is_seq2seq, load_seq2seq

MERGED: Final = "merged.json"
"""The file of a merged folder that names its base and its adapter."""
FloatType: TypeAlias = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True)
class MergedModel:
    """A base with an adapter merged into it."""

    output: Path
    base: str
    base_digest: str
    adapter_digest: str
    digest: str
    """SHA-256 of the files of the merged model."""


def merge_folder(
    adapter: Adapter, output: Path, base: str = "", dtype: FloatType = "float32"
) -> MergedModel:
    """Write the merged model as a folder of transformers, with tokenizer and chat template.

    Args:
        adapter: the adapter.
        output: the new folder.
        base: the base, by default the one that the adapter names.
        dtype: number type of the written weights; the sum itself is computed in float32.

    Raises:
        MissingDependency: a package is missing.
        ModelFileError: the base is missing or cannot be loaded.
        ConfigError: the adapter has another base, or the output exists.
    """
    base, digest = _base(adapter, output, base)
    given = find_model(base), base, "cpu", "float32"
    seq2seq = is_seq2seq(given[0])
    tokenizer, model = load_seq2seq(*given, adapter) if seq2seq else load_causal_lm(*given)
    merged = add_adapter(model, adapter).merge_and_unload()
    with atomic_folder(output) as folder, quiet():
        # The name of the base's folder would be written into the configuration.
        merged.config.name_or_path = ""
        _save(merged, dtype, folder)
        tokenizer.save_pretrained(folder)
        facts = {"base": base, "base_digest": digest, "adapter_digest": adapter.digest}
        (folder / MERGED).write_text(json.dumps(facts, indent=2), encoding="utf-8")
    return MergedModel(output, base, digest, adapter.digest, weights_digest(str(output)))


def merge_gguf(adapter: Adapter, output: Path, base: str = "") -> MergedModel:
    """Write the merged model as a GGUF file with F16 matrices, for llama.cpp.

    Args:
        adapter: the adapter.
        output: the new file.
        base: a GGUF file or a bundled model, by default the base that the adapter names.

    Raises:
        MissingDependency: a package is missing.
        ModelFileError: the base is missing or cannot be read.
        ConfigError: the adapter has another base, the base is not a GGUF file, or the output
            exists.
    """
    if output.suffix != ".gguf":
        raise ConfigError(f"the output must be a file that ends with .gguf, found {output}")
    base, digest = _base(adapter, output, base)
    path = find_model(base)
    if not path.is_file():
        raise ConfigError(
            f"the base {base!r} is not a GGUF file; give one with --base FILE.gguf, or merge into "
            "a folder without --gguf"
        )
    model = read_gguf(path)
    updates = gguf_updates(adapter, model)

    def change(name: str, values: Any) -> Any:
        update = updates.get(name)
        return values if update is None else values + adapter.scale * update.second @ update.first

    with atomic_files(output.parent) as folder:
        write_f16(model, folder / output.name, change)
    return MergedModel(output, base, digest, adapter.digest, known_digest(output))


def _base(adapter: Adapter, output: Path, base: str) -> tuple[str, str]:
    """Return the base and its digest; raise if the adapter has another one."""
    if output.exists():
        raise ConfigError(f"{output} exists; choose another output", value=str(output))
    base = base or adapter.base
    digest = weights_digest(base)
    adapter.check_base(base, digest)
    return base, digest


def _save(model: Any, dtype: FloatType, folder: Path) -> None:
    import torch

    model.to(getattr(torch, dtype)).save_pretrained(folder)
