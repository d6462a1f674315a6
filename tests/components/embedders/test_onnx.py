"""Dense encoders as ONNX graphs: a random graph whose vectors are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.support import rankings, vectors

from ragstone.components.embedders.onnx import OnnxDense
from ragstone.core.fingerprint import fingerprint
from ragstone.core.registry import create
from ragstone.core.step_notes import collect_notes
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError, ModelFileError
from ragstone.protocols import Services
from ragstone.types import Passage, Search

WORDS = ["<s>", "</s>", "<unk>", "river", "bridge", "bank", "query:", "stone"]
TABLE = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32)


def write_encoder(folder: Path, table: np.ndarray = TABLE, outputs: Sequence[str] = ()) -> Path:
    """Write a graph that looks up a vector per token; other outputs are the sum of a text."""
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    made = Tokenizer(models.WordLevel({w: n for n, w in enumerate(WORDS)}, WORDS[2]))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    made.enable_padding(length=32)
    made.save(str(folder / "tokenizer.json"))
    names = outputs or ("last_hidden_state", "sentence_embedding")
    value, size = helper.make_tensor_value_info, table.shape[1]
    shapes = {"last_hidden_state": ["batch", "n", size]}
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    nodes += [
        helper.make_node("ReduceSum", ["last_hidden_state", "axis"], [name], keepdims=0)
        for name in names
        if name != "last_hidden_state"
    ]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([1]), "axis"),
    ]
    graph = helper.make_graph(
        nodes,
        "encoder",
        [value("input_ids", TensorProto.INT64, ["batch", "n"])],
        [value(n, TensorProto.FLOAT, shapes.get(n, ["batch", size])) for n in names],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder with a random encoder of four dimensions."""
    return str(write_encoder(tmp_path / "m"))


def unit(vector: np.ndarray) -> np.ndarray:
    """Return a vector of length 1."""
    return np.asarray(vector / np.linalg.norm(vector))


def test_each_pooling_is_that_of_the_tokens(folder: str) -> None:
    """The marks around a text are tokens too, as sentence-transformers counts them."""
    rows = TABLE[[0, 3, 4, 1]]
    expected: Mapping[str, np.ndarray] = {
        "mean": rows.mean(axis=0),
        "cls": rows[0],
        "lasttoken": rows[-1],
        "sentence_embedding": rows.sum(axis=0),
    }
    for pooling, vector in expected.items():
        (raw,) = vectors(
            OnnxDense(folder, pooling=pooling, normalise=False), "query", "river bridge"
        )
        (found,) = vectors(OnnxDense(folder, pooling=pooling), "query", "river bridge")
        np.testing.assert_allclose(raw, vector, atol=1e-6)
        np.testing.assert_allclose(found, unit(vector), atol=1e-6)
    assert vectors(OnnxDense(folder), "query") == []
    assert len(vectors(OnnxDense(folder), "passage", "")[0]) == 4


def test_prefix_and_length(folder: str) -> None:
    """A prefix is that of the role, and a text that is cut is counted."""
    made = OnnxDense(folder, query_prefix="query: ", max_tokens=4, normalise=False)
    with collect_notes() as notes:
        (query,) = vectors(made, "query", "river bridge bank")
        (passage,) = vectors(made, "passage", "river bridge")

    np.testing.assert_allclose(query, TABLE[[0, 6, 3, 1]].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(passage, TABLE[[0, 3, 4, 1]].mean(axis=0), atol=1e-6)
    assert dict(notes) == {"queries cut to 4 tokens": 1}


def test_the_inner_product_ranks_without_normalisation(folder: str) -> None:
    """A long vector in nearly the right direction is above a short one in the right one."""
    corpus = Corpus.from_passages(
        [Passage(f"p{n}", text) for n, text in enumerate(["river", "bridge bridge bridge", "bank"])]
    )
    queries = ["river", "stone bank", "bridge"]
    for normalise in (True, False):
        encoder = OnnxDense(folder, pooling="sentence_embedding", normalise=normalise)
        asked = np.stack(vectors(encoder, "query", *queries))
        held = np.stack(vectors(encoder, "passage", *[p.full_text for p in corpus]))
        written = {
            "name": "onnx", "model": folder, "pooling": "sentence_embedding", "normalise": normalise
        }  # fmt: skip
        dense = create("retrievers", {"name": "dense", "embedder": written}, where="retriever")

        found = rankings(dense, [Search(f"q{n}", t) for n, t in enumerate(queries)], corpus)

        for products, ranking in zip(asked @ held.T, found, strict=True):
            order = np.argsort(-products)
            assert list(ranking.passage_ids) == [f"p{n}" for n in order]
            np.testing.assert_allclose(ranking.scores, products[order], rtol=1e-5)


def test_queries_have_their_own_encoder(tmp_path: Path, folder: str) -> None:
    """Both files are part of the key; the same files elsewhere give the same key."""
    other = write_encoder(tmp_path / "q", -TABLE)
    made = OnnxDense(folder, query_model=str(other))
    made.check(Services())

    (query,), (passage,) = (vectors(made, role, "river") for role in ("query", "passage"))

    np.testing.assert_allclose(query, -passage, atol=1e-6)
    np.testing.assert_allclose(passage, vectors(OnnxDense(folder), "passage", "river")[0])
    assert made.content_revision == [
        OnnxDense(folder).content_revision,
        OnnxDense(str(other)).content_revision,
    ]
    assert fingerprint(made) != fingerprint(OnnxDense(folder))


def test_two_encoders_of_other_lengths_are_an_error(tmp_path: Path, folder: str) -> None:
    """The check before a run reads both."""
    other = write_encoder(tmp_path / "q", TABLE[:, :3])

    with pytest.raises(ConfigError, match=r"of 3 dimensions, and model .* of 4"):
        OnnxDense(folder, query_model=str(other)).check(Services())


def test_a_wrong_graph_is_an_error_with_the_way_out(tmp_path: Path, folder: str) -> None:
    """Each error names the outputs, the missing file or the range."""
    with pytest.raises(ConfigError, match="did you mean 'sentence_embedding'"):
        OnnxDense(folder, pooling="sentence_embeding").check(Services())
    pooled = write_encoder(tmp_path / "p", outputs=["dense_vecs"])
    with pytest.raises(ConfigError, match="is one of: dense_vecs"):
        OnnxDense(str(pooled)).check(Services())
    OnnxDense(str(pooled), pooling="dense_vecs").check(Services())
    with pytest.raises(ModelFileError, match=r"the encoder .* has no model.onnx"):
        OnnxDense(str(tmp_path / "nowhere")).check(Services())
    with pytest.raises(ConfigError, match="max_tokens must be 1"):
        OnnxDense(folder, max_tokens=0)


def test_a_broken_tokenizer_is_an_error_with_its_path(folder: str) -> None:
    """A malformed file is named before texts are embedded."""
    (Path(folder) / "tokenizer.json").write_text("{}")

    with pytest.raises(ModelFileError, match=r"cannot load .*tokenizer.json"):
        OnnxDense(folder).check(Services())
