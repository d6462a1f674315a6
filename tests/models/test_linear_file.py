"""Linear layers of torch.save without its unpickler: equal numbers, and nothing that runs."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.errors import ModelFileError
from ragstone.models.linear_file import read_linear

needs_torch = pytest.mark.needs("torch")


@needs_torch
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", [(5, 1), (300, 300), (5, 3)])
def test_the_numbers_are_those_that_torch_loads(
    tmp_path: Path, dtype: str, shape: tuple[int, int]
) -> None:
    """As BGE-M3's heads are saved, and as safetensors, which is read first."""
    import torch
    from safetensors.torch import save_file

    for write in (torch.save, save_file):
        layer = torch.nn.Linear(*shape).to(getattr(torch, dtype))
        write(layer.state_dict(), tmp_path / f"h.{'pt' if write is torch.save else 'safetensors'}")

        weight, bias = read_linear(tmp_path, "h")

        np.testing.assert_array_equal(weight, layer.weight.detach().float().numpy())
        np.testing.assert_array_equal(bias, layer.bias.detach().float().numpy())


@needs_torch
def test_anything_else_is_refused(tmp_path: Path) -> None:
    """Other steps, other tensors, other objects: an error with the way out."""
    import torch

    other: list[Any] = [
        {"weight": torch.ones(6).reshape(2, 3).T, "bias": torch.ones(3)},
        {"weight": torch.ones(2, 3)},
        {"bias": torch.ones(2), "weight": torch.ones(2, 3)},
        {"weight": torch.ones(2, 3), "bias": torch.ones(3)},
        {"weight": torch.ones(2, 3, dtype=torch.int64), "bias": torch.ones(2, dtype=torch.int64)},
        {"weight": Path("x"), "bias": 1},
    ]
    for content in other:
        torch.save(content, tmp_path / "h.pt")
        with pytest.raises(ModelFileError, match=r"not one linear layer .* h.safetensors"):
            read_linear(tmp_path, "h")


def test_code_in_a_file_does_not_run(tmp_path: Path) -> None:
    """A pickle that would call a function is refused, as is a file that is cut or absent."""
    with zipfile.ZipFile(tmp_path / "h.pt", "w") as archive:
        archive.writestr("h/data.pkl", b"\x80\x02cbuiltins\nexit\n)R.")
        archive.writestr("h/data/0", b"\0" * 8)
        archive.writestr("h/data/1", b"\0" * 4)
    with pytest.raises(ModelFileError, match="builtins exit"):
        read_linear(tmp_path, "h")
    (tmp_path / "h.pt").write_bytes((tmp_path / "h.pt").read_bytes()[:60])
    with pytest.raises(ModelFileError, match="not a zip file"):
        read_linear(tmp_path, "h")
    with pytest.raises(ModelFileError, match=r"no g.safetensors and no g.pt"):
        read_linear(tmp_path, "g")


@needs_torch
def test_broken_files_are_one_error(tmp_path: Path) -> None:
    """A compressed, encrypted or inflated zip, and safetensors without a layer, are one error."""
    import torch
    from safetensors.numpy import save_file

    good = tmp_path / "good.pt"
    torch.save(torch.nn.Linear(5, 2).state_dict(), good)
    with zipfile.ZipFile(good) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content if "data/0" not in name else b"\0" * 10_000_000)
    # Bit 0 of the flags is that of encryption; the size is at byte 24 of an entry.
    for name, offset, value in (("secret", 8, b"\1"), ("huge", 24, b"\xf0\xff\xff\x7f")):
        changed = bytearray(good.read_bytes())
        place = changed.find(b"PK\x01\x02")
        while place >= 0:
            changed[place + offset : place + offset + len(value)] = value
            place = changed.find(b"PK\x01\x02", place + 4)
        (tmp_path / f"{name}.pt").write_bytes(changed)
    ones = np.ones(3, np.float32)
    save_file({"weight": ones, "bias": ones}, tmp_path / "flat.safetensors")
    save_file({"weight": np.ones((2, 3)), "bias": ones}, tmp_path / "other.safetensors")
    (tmp_path / "empty.safetensors").write_bytes(b"")

    for name in ("bomb", "secret", "huge", "flat", "other", "empty"):
        with pytest.raises(ModelFileError, match="not one linear layer"):
            read_linear(tmp_path, name)
