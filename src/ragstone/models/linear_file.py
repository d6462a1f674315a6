"""A linear layer in a file of safetensors or of `torch.save`; neither is unpickled.

A file of `torch.save` is a zip of raw numbers and a pickle that describes them. The pickle is not
run: its operations are read as a list, which must be that of one linear layer and nothing more.
With `torch.load(weights_only=True)`, releases before 2.6 could be made to run code
(CVE-2025-32434).
"""

from __future__ import annotations

import pickletools
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ragstone.errors import ModelFileError

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]

_TYPES: Final = {"torch FloatStorage": "<f4", "torch HalfStorage": "<f2"}
_NAMES: Final = {"collections OrderedDict", "torch._utils _rebuild_tensor_v2"}
_MALFORMED: Final = (
    zipfile.BadZipFile,
    OSError,
    EOFError,
    LookupError,
    ValueError,
    TypeError,
    RuntimeError,
    struct.error,
)
"""What broken files raise; RuntimeError is that of an encrypted zip."""
_AXES: Final = 2
_TEXTS: Final = ["weight", "storage", "0", "cpu", "bias", "1"]


def read_linear(folder: Path, name: str) -> tuple[Matrix, Matrix]:
    """Return the matrix of a layer, of shape (outputs, inputs), and its bias, in 32 bits.

    Raises:
        ModelFileError: there is no file NAME.safetensors or NAME.pt with one linear layer.
    """
    path = linear_file(folder, name)
    try:
        read = _saved_by_torch if path.suffix == ".pt" else _safetensors
        matrix, bias = read(path)
        if matrix.ndim != _AXES or not matrix.size or bias.shape != matrix.shape[:1]:
            raise ValueError(f"its shapes are {matrix.shape} and {bias.shape}")
    except _MALFORMED as error:
        raise ModelFileError(
            f"{path} is not one linear layer ({error}); save its weight and bias as {name}"
            ".safetensors beside it"
        ) from error
    return matrix, bias


def linear_file(folder: Path, name: str) -> Path:
    """Return the file of a layer; raise `ModelFileError` if there is none."""
    for path in (folder / f"{name}.safetensors", folder / f"{name}.pt"):
        if path.is_file():
            return path
    raise ModelFileError(f"the model folder {folder} has no {name}.safetensors and no {name}.pt")


def _safetensors(path: Path) -> tuple[Matrix, Matrix]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(path)
    except SafetensorError as error:
        raise ValueError(error) from error
    return found["weight"].astype(np.float32), found["bias"].astype(np.float32)


def _saved_by_torch(path: Path) -> tuple[Matrix, Matrix]:
    with zipfile.ZipFile(path) as archive:
        if any(
            one.compress_type or one.file_size > path.stat().st_size for one in archive.infolist()
        ):
            # torch.save does not compress: what is read is never larger than the file.
            raise ValueError("its parts are compressed, or larger than the file")
        (program,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
        root = program.removesuffix("data.pkl")
        operations = list(pickletools.genops(archive.read(program)))
        named = _arguments(operations, "GLOBAL")
        (kind,) = set(named) - _NAMES
        raw = [np.frombuffer(archive.read(f"{root}data/{n}"), _TYPES[str(kind)]) for n in (0, 1)]
    numbers, bias = (array.astype(np.float32) for array in raw)
    matrix = numbers.reshape(len(bias), -1)
    rows, columns = matrix.shape
    # Size, start, shape and steps of each of the two.
    whole = [matrix.size, 0, rows, columns, columns, 1, rows, 0, rows, 1]
    texts = _arguments(operations, "BINUNICODE")
    if texts[: len(_TEXTS)] != _TEXTS or _arguments(operations, "BININT")[: len(whole)] != whole:
        raise ValueError(f"{texts[: len(_TEXTS)]} of other sizes")
    return matrix, bias


def _arguments(operations: list[Any], name: str) -> list[Any]:
    """Return the arguments of the operations of one kind, in order."""
    return [argument for operation, argument, _ in operations if operation.name.startswith(name)]
