"""GGUF files read and written: their metadata, and a copy of a model with 16-bit weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragstone.core.environment import require
from ragstone.errors import ModelFileError
from ragstone.models.adapters import SOURCE
from ragstone.models.files import known_digest

_F16_FILE: Final = 1
"""llama.cpp's number for a file whose matrices are F16."""
_OWN: Final = (
    "GGUF.",
    "general.alignment",
    "general.architecture",
    "general.file_type",
    "general.quantization_version",
    SOURCE,
)
"""Beginnings of the keys that describe a file itself."""

Change = Callable[[str, Any], Any]
"""Returns the new values of a tensor, from its name and its values as float32."""


@dataclass(frozen=True)
class GgufModel:
    """A GGUF file whose metadata are in memory."""

    path: Path
    reader: Any
    """The reader of the package `gguf`; tensors are mapped from the disk."""

    @property
    def architecture(self) -> str:
        """The name of the architecture, such as "llama"."""
        return str(self.reader.fields["general.architecture"].contents())

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Name of a tensor -> its shape as rows, columns."""
        return {t.name: tuple(int(n) for n in reversed(t.shape)) for t in self.reader.tensors}

    def number(self, key: str) -> int:
        """Return a number of the architecture, such as `block_count`.

        Raises:
            ModelFileError: the file does not state it, or states one for each layer.
        """
        field = self.reader.fields.get(f"{self.architecture}.{key}")
        found = field.contents() if field else None
        if not isinstance(found, int):
            raise ModelFileError(f"{self.path} has no single number {self.architecture}.{key}")
        return found


def read_gguf(path: Path) -> GgufModel:
    """Return a GGUF file.

    Raises:
        MissingDependency: the package `gguf` is not installed.
        ModelFileError: the file cannot be read.
    """
    require("a GGUF file", "local", "gguf")
    from gguf import GGUFReader

    try:
        return GgufModel(path, GGUFReader(path))
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise ModelFileError(f"{path} cannot be read as a GGUF file: {error}") from error


def write_f16(model: GgufModel, path: Path, change: Change | None = None) -> None:
    """Write a copy of a model whose matrices are F16; metadata and tokenizer are copied.

    llama.cpp reads vectors, such as the weights of a normalisation, as F32: they stay so.

    Args:
        model: the model; quantised weights are converted.
        path: the new file.
        change: makes other values for some tensors; without it the copy records its source.
    """
    import numpy as np
    from gguf import GGUFWriter
    from gguf.quants import dequantize

    writer = GGUFWriter(path, model.architecture)
    writer.add_file_type(_F16_FILE)
    if change is None:
        writer.add_string(SOURCE, known_digest(model.path))
    _copy_metadata(model, writer)
    forms = [(t, np.float32 if len(t.shape) == 1 else np.float16) for t in model.reader.tensors]
    for tensor, form in forms:
        shape = tuple(int(n) for n in reversed(tensor.shape))
        size = int(tensor.n_elements) * np.dtype(form).itemsize
        writer.add_tensor_info(tensor.name, shape, np.dtype(form), size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    # One tensor at a time is in memory.
    for tensor, form in forms:
        values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32, copy=False)
        values = values.reshape([int(n) for n in reversed(tensor.shape)])
        changed = values if change is None else change(tensor.name, values)
        writer.write_tensor_data(np.ascontiguousarray(changed.astype(form)))
    writer.close()


def _copy_metadata(model: GgufModel, writer: Any) -> None:
    """Copy all values but those that describe the file itself."""
    from gguf import GGUFValueType

    for name, field in model.reader.fields.items():
        if name.startswith(_OWN):
            continue
        value = field.contents()
        inner = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
        if inner is None or value:
            writer.add_key_value(name, value, field.types[0], inner)
