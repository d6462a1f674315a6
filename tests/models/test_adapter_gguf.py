"""Adapters converted for llama.cpp: names, order of rows, and what is refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model
from tests.fakes.tiny_gguf import neighbours, random_adapter, tiny_gguf

from ragstone.errors import ConfigError, ModelFileError
from ragstone.models import adapter_gguf
from ragstone.models.adapter_gguf import gguf_adapter, permuted
from ragstone.models.adapters import read_adapter

pytestmark = [
    pytest.mark.needs("torch", "transformers", "peft", "gguf"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tiny model; its GGUF file is beside it, and an adapter."""
    folder = tiny_chat_model(tmp_path_factory.mktemp("base") / "model")
    tiny_gguf(folder, folder.parent / "model.gguf")
    random_adapter(folder, folder.parent / "adapter")
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep converted adapters of this test alone."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "cache"))


def tensors(path: Path) -> dict[str, Any]:
    """Return name -> values of a GGUF file."""
    from gguf import GGUFReader

    return {tensor.name: tensor.data for tensor in GGUFReader(path).tensors}


def with_tensors(folder: Path, change: Any) -> Path:
    """Write an adapter's tensors again after a change, and return its folder."""
    from safetensors.numpy import load_file, save_file

    path = folder / "adapter_model.safetensors"
    save_file(change(load_file(path)), path)
    return folder


def test_each_layer_has_llama_cpps_name_and_order_of_rows(base: Path) -> None:
    """Query and key rows are permuted by their own numbers of heads; all else is copied."""
    from gguf import GGUFReader
    from safetensors.numpy import load_file

    adapter = read_adapter(base.parent / "adapter")
    path = gguf_adapter(adapter, base.parent / "model.gguf")

    found, given = tensors(path), load_file(adapter.weights)
    assert len(found) == len(given) == 2 * 2 * 7
    for own, theirs, heads in (
        ("attn_q", "self_attn.q_proj", 4),
        ("attn_k", "self_attn.k_proj", 2),
        ("attn_v", "self_attn.v_proj", 0),
        ("ffn_down", "mlp.down_proj", 0),
    ):
        first, second = (
            given[f"base_model.model.model.layers.1.{theirs}.lora_{one}.weight"] for one in "AB"
        )
        second = neighbours(second, heads) if heads else second
        assert (found[f"blk.1.{own}.weight.lora_a"] == first).all()
        assert (found[f"blk.1.{own}.weight.lora_b"] == second).all()
    fields = GGUFReader(path).fields
    named = {name: fields[name].contents() for name in fields if not name.startswith("GGUF")}
    assert named == {
        "general.architecture": "llama",
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 8.0,
    }


def test_the_permutation_is_llama_cpps() -> None:
    """The rule written out row by row gives the same order, for any number of heads."""
    import numpy as np

    rows = np.arange(48.0, dtype=np.float32).reshape(24, 2)
    for heads in (1, 2, 3, 6):
        assert (permuted(rows, heads) == neighbours(rows, heads)).all()


def test_a_converted_adapter_is_kept(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call converts nothing; another adapter has a file of its own."""
    adapter = read_adapter(base.parent / "adapter")
    model = base.parent / "model.gguf"
    path = gguf_adapter(adapter, model)
    changed = path.stat().st_mtime_ns
    monkeypatch.setattr(adapter_gguf, "read_gguf", None)

    assert gguf_adapter(adapter, model) == path
    assert path.stat().st_mtime_ns == changed
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_weights_of_16_bits_are_read(base: Path, tmp_path: Path) -> None:
    """BF16 and F16, as other trainers save them, give the rounded values."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = random_adapter(base, tmp_path / "adapter")
    exact = load_file(folder / "adapter_model.safetensors")
    for dtype in (torch.bfloat16, torch.float16):
        rounded = {name: values.to(dtype) for name, values in exact.items()}
        save_file(rounded, folder / "adapter_model.safetensors")
        found = tensors(gguf_adapter(read_adapter(folder), base.parent / "model.gguf"))
        name = "base_model.model.model.layers.0.mlp.up_proj.lora_B.weight"
        assert (found["blk.0.ffn_up.weight.lora_b"] == rounded[name].float().numpy()).all()


def test_the_rank_stabilised_scale_is_llama_cpps_alpha(base: Path, tmp_path: Path) -> None:
    """llama.cpp divides alpha by the rank, rank-stabilised LoRA by its root."""
    from gguf import GGUFReader

    folder = random_adapter(base, tmp_path / "adapter", use_rslora=True)
    path = gguf_adapter(read_adapter(folder), base.parent / "model.gguf")

    assert GGUFReader(path).fields["adapter.lora.alpha"].contents() == pytest.approx(8 * 4**0.5)


def test_what_llama_cpp_cannot_apply_is_refused(base: Path, tmp_path: Path) -> None:
    """Features, architectures, layers and shapes that do not fit are named."""
    model = base.parent / "model.gguf"
    dora = random_adapter(base, tmp_path / "dora", use_dora=True)
    with pytest.raises(ConfigError, match=r"uses use_dora, which llama.cpp does not have; merge"):
        gguf_adapter(read_adapter(dora), model)
    other = tiny_gguf(base, tmp_path / "other.gguf", arch="falcon")
    with pytest.raises(ConfigError, match="architecture 'falcon' are not converted"):
        gguf_adapter(read_adapter(base.parent / "adapter"), other)
    cut = with_tensors(
        random_adapter(base, tmp_path / "cut", seed=2),
        lambda held: {n: v[:16].copy() if "lora_B" in n else v for n, v in held.items()},
    )
    with pytest.raises(
        ConfigError, match=r"does not fit .*: the layer .* with 16 rows .* has the shape"
    ):
        gguf_adapter(read_adapter(cut), model)
    deeper = with_tensors(
        random_adapter(base, tmp_path / "deeper", seed=3),
        lambda held: {n.replace("layers.1", "layers.9"): v for n, v in held.items()},
    )
    with pytest.raises(ConfigError, match=r"layers.9.* is not in the model"):
        gguf_adapter(read_adapter(deeper), model)
    single = with_tensors(
        random_adapter(base, tmp_path / "single", seed=4),
        lambda held: {n: v for n, v in held.items() if "layers.1.mlp.up_proj.lora_A" not in n},
    )
    with pytest.raises(ModelFileError, match=r"only one factor of model.layers.1.mlp.up_proj"):
        gguf_adapter(read_adapter(single), model)
    strange = with_tensors(
        random_adapter(base, tmp_path / "strange", seed=5),
        lambda held: {**held, "base_model.model.lm_head.weight": held[min(held)]},
    )
    with pytest.raises(ConfigError, match=r"'base_model.model.lm_head.weight', which llama.cpp"):
        gguf_adapter(read_adapter(strange), model)


def test_a_damaged_file_is_an_error_that_names_it(base: Path, tmp_path: Path) -> None:
    """Neither a cut file of weights nor another file in place of the model is read."""
    folder = random_adapter(base, tmp_path / "adapter")
    weights = folder / "adapter_model.safetensors"
    header = json.dumps({"x": {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]}}).encode()
    long = struct.pack("<Q", 2**60) + header
    files = [struct.pack("<Q", len(h)) + h + b"1" for h in (header, b"[1]", b"[" * 100_000)]
    for content in (b"no", long, *files):
        weights.write_bytes(content)
        with pytest.raises(
            ModelFileError, match=r"safetensors is damaged|cannot be read as safetensors"
        ):
            gguf_adapter(read_adapter(folder), base.parent / "model.gguf")
    with pytest.raises(ModelFileError, match="cannot be read as a GGUF file"):
        gguf_adapter(read_adapter(base.parent / "adapter"), base / "config.json")
