"""LoRA adapters for llama.cpp: an adapter of PEFT as a GGUF file, and the same merged into a model.

Transformers and llama.cpp rotate other pairs of rows of the query and key matrices for the
architectures of `_PERMUTED`; their converter therefore permutes these rows within each head. The
adapter's second factor has the same rows.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragstone.core.atomic_files import atomic_files
from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.adapters import Adapter
from ragstone.models.bundled import cache_dir
from ragstone.models.files import known_digest
from ragstone.models.gguf_files import GgufModel, read_gguf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]

_FORMAT: Final = 1
"""Increased if the conversion changes."""
_PERMUTED: Final = frozenset({"llama", "smollm3", "granite", "arcee"})
"""Architectures whose query and key rows llama.cpp's converter permutes."""
_PLAIN: Final = frozenset({"qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3", "olmo2"})
"""Architectures whose linear layers it copies as they are."""
_BROKEN: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""Errors of reading a header that is not one of safetensors."""
_PREFIX: Final = "base_model.model."
_FACTORS: Final = {".lora_A.weight": 0, ".lora_B.weight": 1}


@dataclass(frozen=True)
class Update:
    """The update of one weight matrix: `second @ first`, times the adapter's scale."""

    first: Matrix
    """Shape (r, columns)."""
    second: Matrix
    """Shape (rows, r)."""


def gguf_adapter(adapter: Adapter, model: Path) -> Path:
    """Return the adapter as a GGUF file for a model, converted unless it is in the cache.

    Raises:
        MissingDependency: a package is not installed.
        ModelFileError: a file cannot be read.
        ConfigError: the adapter does not fit the model, or llama.cpp cannot express it.
    """
    require("an adapter in llama.cpp", "local", "gguf")
    key = fingerprint([_FORMAT, adapter.digest, known_digest(model)])[:24]
    path = cache_dir() / "adapters" / f"{key}.gguf"
    if not path.is_file():
        base = read_gguf(model)
        updates = gguf_updates(adapter, base)
        try:
            with atomic_files(path.parent) as folder:
                _write(folder / path.name, adapter, base.architecture, updates)
        except OSError as error:
            raise ModelFileError(
                f"cannot write the converted adapter {path}: {error.strerror or error}. Set "
                "RAGSTONE_MODELS to a folder that can be written"
            ) from error
    return path


def gguf_updates(adapter: Adapter, base: GgufModel) -> dict[str, Update]:
    """Return the name of a tensor of the model -> its update, in llama.cpp's order of rows.

    Raises:
        ModelFileError: the adapter's file cannot be read.
        ConfigError: the adapter does not fit the model, or llama.cpp cannot express it.
    """
    from gguf import MODEL_ARCH_NAMES, get_tensor_name_map

    architecture = base.architecture
    adapter.require_plain("llama.cpp")
    known = {name: number for number, name in MODEL_ARCH_NAMES.items()}
    if architecture not in _PERMUTED | _PLAIN or architecture not in known:
        raise ConfigError(
            f"adapters of the architecture {architecture!r} are not converted for llama.cpp, only "
            f"those of {', '.join(sorted(_PERMUTED | _PLAIN))}; run it with hf or vllm"
        )
    names = get_tensor_name_map(known[architecture], base.number("block_count"))
    heads = _heads(base) if architecture in _PERMUTED else {}
    shapes = base.shapes
    found: dict[str, Update] = {}
    for layer, (first, second) in _factors(adapter.weights).items():
        name = f"{names.get_name(layer) or layer}.weight"
        if shapes.get(name) != (len(second), first.shape[1]):
            shape = f"has the shape {shapes[name]}" if name in shapes else "is not in the model"
            raise ConfigError(
                f"the adapter {adapter.folder} does not fit {base.path}: the layer {layer}, with "
                f"{len(second)} rows and {first.shape[1]} columns in the adapter, {shape}"
            )
        own = next((n for part, n in heads.items() if part in name), 0)
        found[name] = Update(first, permuted(second, own) if own else second)
    return found


def permuted(rows: Matrix, heads: int) -> Matrix:
    """Return rows of a query or key matrix in llama.cpp's order.

    Within a head, row `i` and row `i + half` become neighbours.

    >>> import numpy as np
    >>> permuted(np.arange(8.0, dtype=np.float32).reshape(8, 1), 2).ravel().tolist()
    [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]
    """
    halves = rows.reshape(heads, 2, len(rows) // heads // 2, rows.shape[1])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def _heads(base: GgufModel) -> dict[str, int]:
    """Return a part of a tensor's name -> the number of heads of its rows."""
    return {
        "attn_q.": base.number("attention.head_count"),
        "attn_k.": base.number("attention.head_count_kv"),
    }


def _factors(path: Path) -> dict[str, tuple[Matrix, Matrix]]:
    """Return the name of a layer in transformers -> the two factors of its update."""
    found: dict[str, list[Any]] = {}
    for name, values in _tensors(path).items():
        ends = [end for end in _FACTORS if name.endswith(end)]
        if not ends or not name.startswith(_PREFIX):
            raise ConfigError(f"{path} has the tensor {name!r}, which llama.cpp cannot apply")
        layer = name.removeprefix(_PREFIX).removesuffix(ends[0])
        found.setdefault(layer, [None, None])[_FACTORS[ends[0]]] = values
    if broken := [layer for layer, both in found.items() if any(one is None for one in both)]:
        raise ModelFileError(f"{path} has only one factor of {broken[0]}")
    return {layer: (first, second) for layer, (first, second) in found.items()}


def _tensors(path: Path) -> Mapping[str, Matrix]:
    """Return the tensors of a file of safetensors as float32, those of type BF16 included.

    `safetensors.numpy` cannot read BF16.
    """
    import numpy as np

    forms = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
    try:
        data = path.read_bytes()
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        found: dict[str, Matrix] = {}
        for name, one in header.items():
            if name == "__metadata__":
                continue
            begin, end = (8 + length + offset for offset in one["data_offsets"])
            values: Any = np.frombuffer(data[begin:end], forms[one["dtype"]]).reshape(one["shape"])
            if one["dtype"] == "BF16":
                values = (values.astype("<u4") << 16).view("<f4")
            found[name] = values.astype(np.float32)
    except (*_BROKEN, struct.error) as error:
        raise ModelFileError(f"{path} cannot be read as safetensors: {error}") from error
    return found


def _write(path: Path, adapter: Adapter, architecture: str, updates: Mapping[str, Update]) -> None:
    from gguf import GGUFWriter, Keys

    writer = GGUFWriter(path, architecture)
    writer.add_type("adapter")
    writer.add_string(Keys.Adapter.TYPE, "lora")
    # llama.cpp divides by the rank.
    writer.add_float32(Keys.Adapter.LORA_ALPHA, adapter.scale * adapter.r)
    for name, update in updates.items():
        writer.add_tensor(f"{name}.lora_a", update.first)
        writer.add_tensor(f"{name}.lora_b", update.second)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
