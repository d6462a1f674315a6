"""BGE-M3's three outputs: a tiny random XLM-RoBERTa, against plain transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.xlmr import save_xlmr
from tests.support import rankings, vectors

from ragstone.components.embedders.bge_m3 import BgeM3
from ragstone.components.embedders.bge_m3_sparse import BgeM3Sparse
from ragstone.components.embedders.bge_m3_tokens import BgeM3Tokens
from ragstone.core.registry import create
from ragstone.core.step_notes import collect_notes
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.protocols import Services
from ragstone.types import Passage, Search

needs_torch = pytest.mark.needs("torch", "transformers")
TEXTS = ["gold gold Brücke", "河桥", "نهر gold", "", "gold " * 40]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model, its layers as torch saves them."""
    import torch

    made = save_xlmr(tmp_path_factory.mktemp("m3"))
    sparse = {"weight": torch.randn(1, 16), "bias": torch.ones(1)}
    torch.save(sparse, made / "sparse_linear.pt")
    torch.save(torch.nn.Linear(16, 16).state_dict(), made / "colbert_linear.pt")
    return made


def computed(folder: Path, text: str) -> tuple[list[int], Any, dict[str, Any]]:
    """Return the tokens, the states and the outputs of the layers, by transformers and torch."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    given = tokenizer(text, truncation=True, max_length=32, return_tensors="pt")
    heads = {}
    with torch.no_grad():
        states = AutoModel.from_pretrained(folder).eval()(**given).last_hidden_state[0]
        for name in ("sparse", "colbert"):
            held = torch.load(folder / f"{name}_linear.pt", weights_only=True)
            heads[name] = (states @ held["weight"].T + held["bias"]).numpy()
    return given["input_ids"][0].tolist(), states.numpy(), heads


@needs_torch
@pytest.mark.filterwarnings("default")
def test_each_output_is_that_of_the_published_form(folder: Path) -> None:
    """Equal in any batch: the padding of a neighbour has no effect."""
    with collect_notes() as notes:
        dense = vectors(BgeM3(str(folder), batch=3), "passage", *TEXTS)
    sparse = vectors(BgeM3Sparse(str(folder), batch=3), "query", *TEXTS)
    tokens = vectors(BgeM3Tokens(str(folder), batch=3), "passage", *TEXTS)

    for place, text in enumerate(TEXTS):
        ids, states, heads = computed(folder, text)
        first = states[0] / np.linalg.norm(states[0])
        np.testing.assert_allclose(dense[place], first, atol=1e-5)
        weights: dict[int, float] = {}
        for token, weight in zip(ids, np.maximum(heads["sparse"][:, 0], 0), strict=True):
            if token not in (0, 1, 2, 3) and weight > 0:
                weights[token] = max(weights.get(token, 0), float(weight))
        assert sparse[place] == pytest.approx(weights, abs=1e-5)
        rows = heads["colbert"][1:]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        np.testing.assert_allclose(tokens[place], rows, atol=1e-5)
    assert len({token for row in sparse for token in row}) > 3
    assert dict(notes) == {"passages cut to 32 tokens": 1}
    assert vectors(BgeM3(str(folder)), "query") == []


@needs_torch
@pytest.mark.filterwarnings("default")
def test_each_output_is_searched_by_its_retriever(folder: Path) -> None:
    """Dense, sparse and late interaction; another retriever is named if the output is not its."""
    corpus = Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(TEXTS[:3])])
    for retriever, parameter, embedder in (
        ("dense", "embedder", "bge-m3"),
        ("sparse", "encoder", "bge-m3-sparse"),
        ("late-interaction", "embedder", "bge-m3-tokens"),
    ):
        written = {"name": retriever, parameter: {"name": embedder, "model": str(folder)}}
        made = create("retrievers", written, where="retriever")
        made.check(Services(corpus=corpus))

        (ranking,) = rankings(made, [Search("q", "gold Brücke")], corpus)

        assert "p0" in ranking.passage_ids
    with pytest.raises(ConfigError, match="use it with the retriever 'sparse'"):
        create("retrievers", f"dense(embedder=bge-m3-sparse({folder}))", where="retriever")


@needs_torch
@pytest.mark.filterwarnings("default")
def test_a_missing_layer_and_a_length_beyond_the_model_are_errors(
    folder: Path, tmp_path: Path
) -> None:
    """The layer is part of the key of all three outputs, since they are files of one model."""
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    before = BgeM3Sparse(str(tmp_path)).content_revision
    assert before == BgeM3Sparse(str(folder)).content_revision
    (tmp_path / "sparse_linear.pt").unlink()
    assert BgeM3Sparse(str(tmp_path)).content_revision != before

    with pytest.raises(ModelFileError, match=r"no sparse_linear.safetensors and no sparse_linear"):
        BgeM3Sparse(str(tmp_path)).check(Services())
    BgeM3(str(tmp_path)).check(Services())
    with pytest.raises(ConfigError, match=r"max_tokens is 99, but the model .* reads 32"):
        vectors(BgeM3(str(folder), max_tokens=99), "query", "gold")


def test_without_the_packages_the_error_has_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check before a run names the embedder and the extra."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for name in ("bge-m3", "bge-m3-sparse", "bge-m3-tokens"):
        with pytest.raises(MissingDependency, match=rf"{name}.*ragstone\[hf\]"):
            create("embedders", name, where="embedder").check(Services())
