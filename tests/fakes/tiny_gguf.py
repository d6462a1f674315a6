"""The tiny chat model as a GGUF file, and random adapters for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.tiny_chat_model import TEMPLATE

_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_WHOLE = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}


def tiny_gguf(folder: Path, path: Path, *, quantised: bool = False, arch: str = "llama") -> Path:
    """Write the tiny chat model of a folder as llama.cpp's converter would, and return the file.

    Args:
        folder: the model as transformers saves it.
        path: the new file.
        quantised: whether matrices are of 8 bit.
        arch: the name of the architecture.
    """
    import json

    import numpy as np
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quantize
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text())
    weights = load_file(folder / "model.safetensors")
    writer = GGUFWriter(path, arch)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    _add_tokenizer(writer, folder)
    names = {f"{own}.weight": f"{theirs}.weight" for own, theirs in _WHOLE.items()}
    for layer in range(config["num_hidden_layers"]):
        for own, theirs in _LAYER.items():
            names[f"blk.{layer}.{own}.weight"] = f"model.layers.{layer}.{theirs}.weight"
    heads = {"attn_q.": config["num_attention_heads"], "attn_k.": config["num_key_value_heads"]}
    for name, theirs in names.items():
        values = weights[theirs].astype(np.float32)
        for part, count in heads.items():
            values = neighbours(values, count) if part in name else values
        if quantised and values.ndim > 1:
            kind = GGMLQuantizationType.Q8_0
            writer.add_tensor(name, quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def neighbours(rows: Any, heads: int) -> Any:
    """Return rows in llama.cpp's order: those that are rotated together are adjacent."""
    half = len(rows) // heads // 2
    places = [
        head * 2 * half + which * half + pair
        for head in range(heads)
        for pair in range(half)
        for which in range(2)
    ]
    return rows[places]


def _add_tokenizer(writer: Any, folder: Path) -> None:
    import json

    from gguf import TokenType

    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    tokens = sorted(vocabulary, key=lambda token: int(vocabulary[token]))
    named = {"<|im_start|>", "<|im_end|>", "<pad>"}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if t in named else TokenType.NORMAL for t in tokens])
    # A list must not be empty; these two bytes follow each other in no text.
    writer.add_token_merges(["ÿ ÿ"])
    writer.add_eos_token_id(vocabulary["<|im_end|>"])
    writer.add_pad_token_id(vocabulary["<pad>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def random_adapter(base: Path, folder: Path, *, seed: int = 1, **shape: Any) -> Path:
    """Write an adapter of a model's folder with large random weights, and return its folder."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    given = {"r": 4, "lora_alpha": 8, "target_modules": "all-linear", **shape}
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(base), LoraConfig(**given))
    for name, values in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(values, std=0.3)
    model.save_pretrained(folder)
    return folder
