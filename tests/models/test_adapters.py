"""Adapter folders: ours and anybody's, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.adapters import read_adapter

CONFIG = {
    "peft_type": "LORA",
    "r": 4,
    "lora_alpha": 8,
    "target_modules": ["v_proj", "q_proj"],
    "base_model_name_or_path": "owner/base",
    "bias": "none",
    "rank_pattern": {},
    "use_dora": False,
}


def written(folder: Path, record: dict[str, Any] | None = None, **config: Any) -> Path:
    """Return a folder as PEFT writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(CONFIG | config))
    (folder / "adapter_model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    if record is not None:
        (folder / "training.json").write_text(json.dumps(record))
    return folder


def test_ours_names_its_base_with_the_digest(tmp_path: Path) -> None:
    """The record of the training says more than PEFT's configuration."""
    record = {"base": "smollm2-135m-instruct", "base_digest": "b1", "digest": "d"}
    found = read_adapter(written(tmp_path / "a", record))

    assert (found.base, found.base_digest) == ("smollm2-135m-instruct", "b1")
    assert (found.r, found.alpha, found.scale) == (4, 8.0, 2.0)
    assert found.targets == ("q_proj", "v_proj")
    assert found.unusual == ()


def test_anybodys_has_a_base_without_a_digest(tmp_path: Path) -> None:
    """The name is that of the configuration, or is given."""
    assert read_adapter(written(tmp_path / "a")).base == "owner/base"
    nameless = written(tmp_path / "b", base_model_name_or_path=None)
    with pytest.raises(ConfigError, match="does not name its base; give it with `model`"):
        read_adapter(nameless)
    found = read_adapter(nameless, "owner/other")
    assert (found.base, found.base_digest) == ("owner/other", "")
    found.check_base("anything", "any digest")


def test_the_digest_is_that_of_configuration_and_weights(tmp_path: Path) -> None:
    """The same files in another folder have the same digest; a record changes nothing."""
    one = read_adapter(written(tmp_path / "a"))
    same = read_adapter(written(tmp_path / "b", {"base": "x", "digest": "d"}))
    other = read_adapter(written(tmp_path / "c", r=8))

    assert one.digest == same.digest != other.digest


def test_rank_stabilised_scale_and_unusual_features_are_read(tmp_path: Path) -> None:
    """The scale is PEFT's; features that llama.cpp does not have are listed."""
    found = read_adapter(written(tmp_path / "a", use_rslora=True, use_dora=True, bias="all"))

    assert found.scale == 4.0
    assert found.unusual == ("bias", "use_dora")
    with pytest.raises(ConfigError, match=r"uses bias, use_dora, which vLLM does not have; merge"):
        found.require_plain("vLLM")
    plain = read_adapter(written(tmp_path / "b", init_lora_weights="gaussian"))
    plain.require_plain("vLLM")
    changing = read_adapter(written(tmp_path / "c", init_lora_weights="pissa_niter_4"))
    assert changing.unusual == ("init_lora_weights",)


def test_an_adapter_of_another_base_is_refused(tmp_path: Path) -> None:
    """The message names both models and both digests."""
    record = {"base": "smollm2-135m-instruct", "base_digest": "b" * 64, "digest": "d"}
    found = read_adapter(written(tmp_path / "a", record))

    found.check_base("smollm2-135m-instruct", "b" * 64)
    with pytest.raises(ConfigError) as caught:
        found.check_base("models/mine", "c" * 64)
    for part in ("smollm2-135m-instruct", "bbbbbbbbbbbb", "models/mine", "cccccccccccc"):
        assert part in str(caught.value)


def test_a_gguf_file_is_not_compared_with_the_digest_of_a_folder(tmp_path: Path) -> None:
    """A folder and a GGUF file made from it have unlike digests; two GGUF files are compared."""
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    of_folder = read_adapter(
        written(tmp_path / "a", {"base": "owner/base", "base_digest": "b1", "digest": "d"})
    )
    of_file = read_adapter(
        written(tmp_path / "b", {"base": "base.gguf", "base_digest": "b1", "digest": "d"})
    )

    of_folder.check_base(str(file), "c1")
    with pytest.raises(ConfigError, match=r"was trained on 'base.gguf'"):
        of_file.check_base(str(file), "c1")


def test_what_is_no_adapter_is_refused(tmp_path: Path) -> None:
    """Each error names the folder and the way out."""
    with pytest.raises(ModelFileError, match="there is no adapter at"):
        read_adapter(tmp_path / "nowhere")
    pickled = written(tmp_path / "pickled")
    (pickled / "adapter_model.safetensors").rename(pickled / "adapter_model.bin")
    with pytest.raises(ModelFileError, match="pickled weights are not read"):
        read_adapter(pickled)
    with pytest.raises(ConfigError, match="only LORA is used"):
        read_adapter(written(tmp_path / "ia3", peft_type="IA3"))
    with pytest.raises(ConfigError, match="has not ended; run the same ragstone train again"):
        read_adapter(written(tmp_path / "half", {"base": "x", "digest": ""}))
    whole = tmp_path / "whole"
    whole.mkdir()
    (whole / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="is a whole model and no adapter"):
        read_adapter(whole)
    broken = written(tmp_path / "broken")
    (broken / "adapter_config.json").write_text("[" * 100_000)
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_adapter(broken)
    (broken / "adapter_config.json").write_text("[1]")
    with pytest.raises(ModelFileError, match="not a JSON object"):
        read_adapter(broken)
    with pytest.raises(ModelFileError, match="no usable r and lora_alpha"):
        read_adapter(written(tmp_path / "rankless", r=0))


def test_damaged_weights_are_refused_before_the_base_is_loaded(tmp_path: Path) -> None:
    """A file that was cut, and one that is something else."""
    folder = written(tmp_path / "a")
    whole = (folder / "adapter_model.safetensors").read_bytes()
    for damaged in (whole[:-1], b"weights", b"", whole + b"more"):
        (folder / "adapter_model.safetensors").write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"adapter_model.safetensors is damaged: .* again"):
            read_adapter(folder)
