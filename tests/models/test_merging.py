"""Adapters merged into their bases, as folders and as GGUF files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model
from tests.fakes.tiny_gguf import neighbours, random_adapter, tiny_gguf

from ragstone.errors import ConfigError
from ragstone.models.adapters import read_adapter
from ragstone.models.causal_lm import add_adapter, load_causal_lm
from ragstone.models.gguf_files import read_gguf
from ragstone.models.locate import find_model
from ragstone.models.merging import merge_folder, merge_gguf

pytestmark = [
    pytest.mark.needs("torch", "transformers", "peft", "gguf"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `base`, `base.gguf` and `adapter`."""
    folder = tmp_path_factory.mktemp("tiny")
    tiny_chat_model(folder / "base")
    tiny_gguf(folder / "base", folder / "base.gguf")
    random_adapter(folder / "base", folder / "adapter")
    return folder


def scores(model: Any) -> Any:
    """Return a model's scores after a few tokens."""
    import torch

    with torch.no_grad():
        return model.eval()(torch.tensor([[5, 6, 7, 8]])).logits


@pytest.mark.needs("accelerate", model="smollm2-135m-instruct")
def test_the_weights_of_a_gguf_file_are_saved_as_plain_numbers(tmp_path: Path) -> None:
    """Nothing of the four bits is in the folder; merges and whole models are saved so."""
    file = find_model("smollm2-135m-instruct")
    _, model = load_causal_lm(file, "bundled", "cpu", "bfloat16")
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert "quantization_config" not in config
    assert config["dtype"] == "bfloat16"
    assert (tmp_path / "model.safetensors").stat().st_size > 2 * model.num_parameters()


def test_the_merged_folder_is_a_model_of_its_own(tiny: Path, tmp_path: Path) -> None:
    """Its scores are those of base and adapter; it has the tokenizer and the chat template."""
    import torch

    adapter = read_adapter(tiny / "adapter")
    done = merge_folder(adapter, tmp_path / "merged")

    _, base = load_causal_lm(tiny / "base", "base", "cpu", "float32")
    before = scores(base).clone()
    tokenizer, merged = load_causal_lm(tmp_path / "merged", "merged", "cpu", "float32")
    wanted = scores(add_adapter(base, adapter))
    assert torch.allclose(scores(merged), wanted, atol=1e-5)
    assert not torch.allclose(before, wanted, atol=1e-2)
    assert tokenizer.chat_template
    facts = json.loads((tmp_path / "merged" / "merged.json").read_text())
    assert facts["adapter_digest"] == adapter.digest
    assert facts["base_digest"] == done.base_digest
    assert str(tiny) not in (tmp_path / "merged" / "config.json").read_text()


def test_the_merged_file_has_the_sum_in_llama_cpps_order(tiny: Path, tmp_path: Path) -> None:
    """Query rows are those of the merged folder, permuted; other tensors are the base's."""
    import numpy as np
    from safetensors.numpy import load_file

    adapter = read_adapter(tiny / "adapter")
    merge_folder(adapter, tmp_path / "merged")
    merge_gguf(adapter, tmp_path / "merged.gguf", str(tiny / "base.gguf"))

    wanted = load_file(tmp_path / "merged" / "model.safetensors")
    found = {t.name: t.data for t in read_gguf(tmp_path / "merged.gguf").reader.tensors}
    queries = neighbours(wanted["model.layers.1.self_attn.q_proj.weight"], 4)
    assert np.allclose(found["blk.1.attn_q.weight"], queries, atol=2e-2)
    ups = wanted["model.layers.0.mlp.up_proj.weight"]
    assert np.allclose(found["blk.0.ffn_up.weight"], ups, atol=2e-2)
    assert np.allclose(found["output.weight"], wanted["lm_head.weight"], atol=1e-3)


def test_other_bases_and_outputs_are_refused(tiny: Path, tmp_path: Path) -> None:
    """Nothing is written then."""
    adapter = read_adapter(tiny / "adapter")
    with pytest.raises(ConfigError, match="exists; choose another output"):
        merge_folder(adapter, tiny)
    with pytest.raises(ConfigError, match=r"must be a file that ends with \.gguf"):
        merge_gguf(adapter, tmp_path / "merged")
    with pytest.raises(ConfigError, match="is not a GGUF file; give one with --base"):
        merge_gguf(adapter, tmp_path / "merged.gguf")
    (tmp_path / "own").mkdir()
    for path in (tiny / "adapter").iterdir():
        (tmp_path / "own" / path.name).write_bytes(path.read_bytes())
    record = {"base": str(tiny / "base"), "base_digest": "0" * 64, "digest": "d"}
    (tmp_path / "own" / "training.json").write_text(json.dumps(record))
    with pytest.raises(ConfigError, match="does not fit the model"):
        merge_folder(read_adapter(tmp_path / "own"), tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
