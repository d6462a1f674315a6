"""GGUF files: metadata, and copies with 16-bit weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model
from tests.fakes.tiny_gguf import tiny_gguf

from ragstone.errors import ModelFileError
from ragstone.models.adapters import SOURCE
from ragstone.models.files import known_digest
from ragstone.models.gguf_files import read_gguf, write_f16
from ragstone.models.parameters import gguf_text

pytestmark = [
    pytest.mark.needs("torch", "transformers", "gguf"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a GGUF file with 8-bit matrices."""
    folder = tmp_path_factory.mktemp("model")
    return tiny_gguf(tiny_chat_model(folder / "m"), folder / "m.gguf", quantised=True)


def test_numbers_and_shapes_are_read(model: Path) -> None:
    """Shapes are rows and columns; a missing number is named."""
    found = read_gguf(model)

    assert found.architecture == "llama"
    assert found.number("attention.head_count_kv") == 2
    assert found.shapes["blk.1.attn_k.weight"] == (16, 32)
    with pytest.raises(ModelFileError, match=r"no single number llama\.expert_count"):
        found.number("expert_count")


def test_a_copy_has_the_same_metadata_tokenizer_and_values(model: Path, tmp_path: Path) -> None:
    """Matrices are F16 and vectors F32; the copy names the file that it was made from."""
    import numpy as np
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    copied = tmp_path / "copy.gguf"
    write_f16(read_gguf(model), copied)

    before, after = read_gguf(model).reader, read_gguf(copied).reader
    own = {"general.file_type", SOURCE, "GGUF.kv_count"}
    assert set(after.fields) == set(before.fields) | own
    for name in set(before.fields) - own:
        assert after.fields[name].contents() == before.fields[name].contents()
        assert after.fields[name].types == before.fields[name].types
    for one, other in zip(before.tensors, after.tensors, strict=True):
        vector = len(one.shape) == 1
        kinds = GGMLQuantizationType.F32, GGMLQuantizationType.F16
        assert other.tensor_type == kinds[0 if vector else 1]
        assert one.shape.tolist() == other.shape.tolist()
        exact = dequantize(one.data, one.tensor_type)
        assert np.allclose(exact, other.data, atol=0 if vector else 1e-3)
    assert gguf_text(copied, SOURCE) == known_digest(model)


def test_a_changed_copy_does_not_claim_to_be_its_source(model: Path, tmp_path: Path) -> None:
    """Only the named tensor changes, and other weights have another source."""
    copied = tmp_path / "changed.gguf"
    write_f16(read_gguf(model), copied, lambda name, v: v * 0 if name == "output.weight" else v)

    values = {t.name: t.data for t in read_gguf(copied).reader.tensors}
    assert not values["output.weight"].any()
    assert values["token_embd.weight"].any()
    assert gguf_text(copied, SOURCE) == ""


def test_text_is_read_from_metadata_alone(model: Path, tmp_path: Path) -> None:
    """A key that is missing, a number, or another file gives no text."""
    assert gguf_text(model, "general.architecture") == "llama"
    assert gguf_text(model, "tokenizer.ggml.pre") == "gpt-2"
    assert gguf_text(model, "llama.block_count") == ""
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    assert gguf_text(tmp_path / "x.gguf", "x") == gguf_text(tmp_path / "none", "x") == ""
