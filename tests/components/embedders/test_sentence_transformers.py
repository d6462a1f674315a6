"""Encoders run by sentence-transformers give what our own give for the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.xlmr import save_xlmr
from tests.support import vectors

from ragstone.components.embedders.minilm import MiniLM
from ragstone.components.embedders.sentence_transformers import SentenceTransformers
from ragstone.components.embedders.sentence_transformers_sparse import SentenceTransformersSparse
from ragstone.components.embedders.splade import Splade
from ragstone.core.fingerprint import fingerprint
from ragstone.core.registry import create
from ragstone.core.step_notes import collect_notes
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.models.files import model_file
from ragstone.protocols import Role, Services

needs_torch = pytest.mark.needs("torch", "sentence_transformers")
TEXTS = ["What is the capital of France?", "A touchstone tests gold. " * 120, ""]


def folder(model: str) -> str:
    """Return the folder of a bundled model: a plain one of transformers' layout."""
    return str(model_file(model).parent)


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dense_vectors_are_those_of_the_bundled_encoder() -> None:
    """Both torch and ONNX return the same vectors from the same weights; a long text is counted."""
    with collect_notes() as notes:
        found = vectors(SentenceTransformers(folder("all-minilm-l6-v2")), "passage", *TEXTS)

    expected = vectors(MiniLM(precision="float32"), "passage", *TEXTS)
    assert np.allclose((np.stack(found) * np.stack(expected)).sum(axis=1), 1, atol=1e-5)
    assert dict(notes) == {"passages cut to 512 tokens": 1}


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sparse_vectors_are_those_of_the_bundled_encoder() -> None:
    """The same words with the same weights."""
    encoder = SentenceTransformersSparse(folder("splade-tiny"))

    found = vectors(encoder, "query", *TEXTS)

    for row, expected in zip(found, vectors(Splade(), "query", *TEXTS), strict=True):
        assert row == pytest.approx(expected, abs=1e-4)
    assert vectors(encoder, "passage") == []


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pooling_prefix_and_length_change_the_vectors() -> None:
    """Each parameter has its effect, and is part of the key."""
    model = folder("all-minilm-l6-v2")
    plain = SentenceTransformers(model)
    changes: list[dict[str, Any]] = [
        {"pooling": "lasttoken"},
        {"query_prefix": "query: "},
        {"max_tokens": 4},
        {"dtype": "bfloat16"},
    ]
    for change in changes:
        other = SentenceTransformers(model, **change)
        (changed,), (unchanged,) = (vectors(e, "query", TEXTS[0]) for e in (other, plain))
        gap = np.abs(changed - unchanged).max()
        assert gap > 1e-4, change
        assert fingerprint(other) != fingerprint(plain)
    assert vectors(plain, "query") == []
    assert len(vectors(plain, "query", "x")[0]) == 384
    (raw,) = vectors(SentenceTransformers(model, normalise=False), "query", TEXTS[0])
    assert np.linalg.norm(raw) > 1.5


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_decoder_is_pooled_at_its_last_token(tmp_path: Path) -> None:
    """The vector of a tiny Llama is that of its last token, in any batch."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaModel

    tokenizer = AutoTokenizer.from_pretrained(folder("all-minilm-l6-v2"))
    tokenizer.save_pretrained(tmp_path)
    config = LlamaConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
    )
    torch.manual_seed(0)
    model = LlamaModel(config).eval()
    model.save_pretrained(tmp_path)
    texts = ["Instruct: find it. Query: gold", "a much longer text about a dark stone and gold"]

    made = SentenceTransformers(str(tmp_path), pooling="lasttoken", query_prefix="Instruct: ")
    found = vectors(made, "passage", *texts)

    for text, vector in zip(texts, found, strict=True):
        with torch.no_grad():
            last = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, -1].numpy()
        assert np.allclose(vector, last / np.linalg.norm(last), atol=1e-5)


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_folder_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    """The error contains the package's message."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"\0")

    with pytest.raises(ModelFileError, match="cannot load the model"):
        vectors(SentenceTransformers(str(tmp_path)), "query", "x")


def test_without_the_package_the_error_has_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check before a run names the embedder and the extra."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    model = folder("all-minilm-l6-v2")

    for written in (f"sentence-transformers({model})", f"sentence-transformers-sparse({model})"):
        made = create("embedders", written, where="embedder")
        with pytest.raises(MissingDependency, match=r"ragstone\[st\]"):
            made.check(Services())


def test_files_of_modules_are_part_of_the_key(tmp_path: Path) -> None:
    """Another pooling file in the folder changes the key."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"\0")
    (tmp_path / "1_Pooling").mkdir()
    pooling = tmp_path / "1_Pooling" / "config.json"
    pooling.write_text('{"pooling_mode": "mean"}')
    before = SentenceTransformers(str(tmp_path)).content_revision

    pooling.write_text('{"pooling_mode": "cls"}')

    assert SentenceTransformers(str(tmp_path)).content_revision != before


def save_modules(folder: Path, *, dense: int = 0) -> str:
    """Save a tiny XLM-RoBERTa in the library's own form; with `dense` outputs, as LaBSE."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import (
        Dense,
        Normalize,
        Pooling,
        Transformer,
    )

    save_xlmr(folder / "plain")
    torch.manual_seed(5)
    transformer = Transformer(str(folder / "plain"))
    layer = [Dense(16, dense, activation_function=torch.nn.Tanh())] if dense else []
    pooling = Pooling(16, pooling_mode="cls" if dense else "mean")
    SentenceTransformer(modules=[transformer, pooling, *layer, Normalize()], device="cpu").save(
        str(folder / "made")
    )
    return str(folder / "made")


@needs_torch
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("dense", [0, 12])
def test_multilingual_models_give_the_librarys_own_vectors(tmp_path: Path, dense: int) -> None:
    """The forms of multilingual-e5 (mean) and of LaBSE (first mark, a dense layer with tanh)."""
    from sentence_transformers import SentenceTransformer

    folder = save_modules(tmp_path, dense=dense)
    made = SentenceTransformers(folder, query_prefix="gold ", max_tokens=20)

    found = np.stack(vectors(made, "query", "Brücke", "河桥", ""))

    asked = ["gold Brücke", "gold 河桥", "gold "]
    expected = SentenceTransformer(folder, device="cpu").encode(asked, prompt="")
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.shape == (3, dense or 16)


@needs_torch
@pytest.mark.filterwarnings("default")
def test_queries_have_their_own_encoder(tmp_path: Path) -> None:
    """As DRAGON+ and DPR: the first mark of two models, without normalisation."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    passages = str(save_xlmr(tmp_path / "p", seed=1))
    queries = str(save_xlmr(tmp_path / "q", seed=2))
    given: dict[str, Any] = {"pooling": "cls", "normalise": False}
    made = SentenceTransformers(passages, query_model=queries, **given)
    made.check(Services())

    sides: list[tuple[Role, str]] = [("query", queries), ("passage", passages)]
    for role, folder in sides:
        (found,) = vectors(made, role, "gold Brücke")
        tokens = AutoTokenizer.from_pretrained(folder)("gold Brücke", return_tensors="pt")
        with torch.no_grad():
            states = AutoModel.from_pretrained(folder).eval()(**tokens).last_hidden_state
        np.testing.assert_allclose(found, states[0, 0].numpy(), atol=1e-5)
    alone = [SentenceTransformers(one, **given).content_revision for one in (passages, queries)]
    assert made.content_revision == alone
    assert fingerprint(made) != fingerprint(SentenceTransformers(passages, **given))

    other = str(save_xlmr(tmp_path / "o", size=8))
    with pytest.raises(ConfigError, match=r"of 8 dimensions, and model .* of 16"):
        SentenceTransformers(passages, query_model=other).check(Services())


@needs_torch
def test_the_classes_of_dpr_are_refused_with_another_form(tmp_path: Path) -> None:
    """The library would give such a folder random weights, or fail at the first text."""
    (tmp_path / "config.json").write_text('{"model_type": "dpr"}')
    (tmp_path / "model.safetensors").write_bytes(b"\0")

    with pytest.raises(ModelFileError, match="sentence-transformers/facebook-dpr"):
        SentenceTransformers(str(tmp_path)).check(Services())


@pytest.mark.parametrize("changes", [{"batch": 0}, {"max_tokens": 0}])
def test_wrong_parameters_are_errors(changes: dict[str, Any]) -> None:
    """Wrong parameters are errors before a model is loaded."""
    with pytest.raises(ConfigError, match=next(iter(changes))):
        SentenceTransformers("owner/name", **changes)
