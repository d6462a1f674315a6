"""Cross-encoders: an ONNX graph whose scores are known, and a tiny model with random weights."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.xlmr import save_xlmr
from tests.support import values

from ragstone.components.rerankers.cross_encoder import CrossEncoder
from ragstone.components.rerankers.cross_encoder_onnx import CrossEncoderOnnx
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.step_notes import collect_notes
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError, MissingDependency, ModelFileError, RagstoneError
from ragstone.protocols import Reranker, Services
from ragstone.types import Passage, Ranking, Search

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "river", "bridge", "bank", "who", "built", "it"]
needs_torch = pytest.mark.needs("torch", "sentence_transformers")
TEXTS = [
    "river river",
    "bridge built",
    "",
    "bank bank bank bank bank bank bank bank",
    "bridge built",
]
CORPUS = Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(TEXTS)])
ALL = Ranking([f"p{n}" for n in range(5)], [5.0, 4.0, 3.0, 2.0, 1.0])


def _write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel({w: n for n, w in enumerate(WORDS)}, WORDS[1]))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    made.enable_padding(length=64)  # as some models are saved: a pair computed alone needs none
    made.save(str(folder / "tokenizer.json"))


def _write_graph(folder: Path, weights: Sequence[float], inputs: Sequence[str]) -> Path:
    """Write a graph that adds up a weight per token, less one if it is the query's."""
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True, exist_ok=True)
    _write_tokenizer(folder)
    table = numpy_helper.from_array(np.array(weights, np.float32)[:, None], "table")
    constants = [table, numpy_helper.from_array(np.array([1]), "axis")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["each"])]
    last = "each"
    if "token_type_ids" in inputs:
        nodes += [
            helper.make_node("Cast", ["token_type_ids"], ["kinds"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["kinds", "two"], ["factor"]),
            helper.make_node("Mul", ["each", "factor"], ["counted"]),
        ]
        constants.append(numpy_helper.from_array(np.array([2]), "two"))
        last = "counted"
    nodes.append(helper.make_node("ReduceSum", [last, "axis"], ["logits"], keepdims=0))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "weights",
        [value(name, TensorProto.INT64, ["batch", "n"]) for name in inputs],
        [value("logits", TensorProto.FLOAT, ["batch", 1])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder


def reranked(
    reranker: Reranker, searches: Sequence[Search], given: Sequence[Ranking]
) -> list[Ranking]:
    """Return the ranking of each search over the corpus of this file."""
    return values(reranker, Services(corpus=CORPUS), searches, given)


def _scored(words: Sequence[float] = (0, 0, 0, 0, 1, 3, 0.5, 0, 2, 0)) -> Sequence[float]:
    return words


def test_passages_are_ordered_by_the_scores_of_the_graph(tmp_path: Path) -> None:
    """Scores follow from the weights; equal ones keep their order."""
    folder = _write_graph(tmp_path / "m", _scored(), ["input_ids", "token_type_ids"])
    model = CrossEncoderOnnx(str(folder), top_k=5)

    (ranking,) = reranked(model, [Search("q", "who built it")], [ALL])

    assert list(ranking.passage_ids) == ["p1", "p4", "p3", "p0", "p2"]
    np.testing.assert_allclose(ranking.scores, [5, 5, 4, 2, 0], atol=1e-5)


@pytest.mark.parametrize(
    "inputs", [["input_ids"], ["input_ids", "attention_mask", "token_type_ids"][::2]]
)
def test_graphs_get_the_inputs_that_they_declare(tmp_path: Path, inputs: list[str]) -> None:
    """A graph without token types gets no token types."""
    folder = _write_graph(tmp_path / "m", _scored(), inputs)

    scores, cut = CrossEncoderOnnx(str(folder)).score([("built", "bridge")])

    assert (scores, cut) == ([3.0 if len(inputs) > 1 else 5.0], 0)


def test_a_pair_that_is_too_long_is_cut_and_counted(tmp_path: Path) -> None:
    """The longer text of a pair is cut first, and a note counts the cut pairs."""
    folder = _write_graph(tmp_path / "m", _scored(), ["input_ids", "token_type_ids"])
    model = CrossEncoderOnnx(str(folder), top_k=3, max_tokens=8)
    searches = [Search("q1", "who"), Search("q2", "who " * 50)]
    rankings = [Ranking(["p3", "p0"], [2.0, 1.0]), Ranking(["p0"], [1.0])]
    with collect_notes() as notes:
        found = reranked(model, searches, rankings)

    assert [list(ranking.passage_ids) for ranking in found] == [["p3", "p0"], ["p0"]]
    np.testing.assert_allclose(found[0].scores, [2.0, 2.0], atol=1e-5)  # 4 of 8 banks are left
    assert dict(notes) == {"pairs of query and passage cut to 8 tokens": 2}


def test_nothing_and_little_to_rerank(tmp_path: Path) -> None:
    """Empty rankings load no model; a single passage is scored."""
    folder = _write_graph(tmp_path / "m", _scored(), ["input_ids"])
    model = CrossEncoderOnnx(str(folder))
    searches = [Search("q1", "who"), Search("q2", "")]

    found = reranked(model, searches, [Ranking(), Ranking(["p2"], [1.0])])

    assert [list(ranking.passage_ids) for ranking in found] == [[], ["p2"]]
    (folder / "model.onnx").write_bytes(b"no graph")
    (nothing,) = reranked(CrossEncoderOnnx(str(folder)), searches[:1], [Ranking()])
    assert len(nothing) == 0


def test_scores_that_are_no_numbers_reach_no_table(tmp_path: Path) -> None:
    """The error names the passage."""
    weights = [0, 0, 0, 0, 1, float("nan"), 0, 0, 0, 0]
    folder = _write_graph(tmp_path / "m", weights, ["input_ids"])

    with pytest.raises(RagstoneError, match="gave passage 'p1' the score nan"):
        reranked(CrossEncoderOnnx(str(folder)), [Search("q", "who")], [ALL])


def _revision(folder: Path) -> str:
    return CrossEncoderOnnx(str(folder)).content_revision


def test_the_model_is_part_of_the_key_by_its_bytes(tmp_path: Path) -> None:
    """Equal files in another folder have the same revision."""
    one = _write_graph(tmp_path / "a", _scored(), ["input_ids"])
    same = _write_graph(tmp_path / "b", _scored(), ["input_ids"])
    other = _write_graph(tmp_path / "c", [0.0] * 10, ["input_ids"])

    assert _revision(one) == _revision(same)
    assert _revision(one) != _revision(other)
    assert cache_key_parts(CrossEncoderOnnx(str(one))) != cache_key_parts(
        CrossEncoderOnnx(str(one), max_tokens=9)
    )

    (same / "model.onnx_data").write_bytes(b"weights of a large graph")
    assert _revision(one) != _revision(same)


def test_a_missing_or_damaged_part_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    """Each error names the missing file, the input or the range."""
    with pytest.raises(ModelFileError, match=r"has no model.onnx; give a folder"):
        CrossEncoderOnnx(str(tmp_path / "nowhere")).check(Services())
    folder = _write_graph(tmp_path / "m", _scored(), ["input_ids"])
    CrossEncoderOnnx(str(folder)).check(Services())
    (folder / "tokenizer.json").rename(tmp_path / "tokenizer.json")
    with pytest.raises(ModelFileError, match=r"has no tokenizer.json"):
        CrossEncoderOnnx(str(folder)).check(Services())
    (tmp_path / "tokenizer.json").rename(folder / "tokenizer.json")
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelFileError, match="cannot load"):
        CrossEncoderOnnx(str(folder)).score([("a", "b")])
    for fields, problem in (
        ({"top_k": 20, "depth": 10}, "only depth=10"),
        ({"max_tokens": 0}, "max_tokens must be 1"),
        ({"threads": 0}, "threads must be 1"),
    ):
        with pytest.raises(ConfigError, match=problem):
            CrossEncoderOnnx(str(folder), **fields)


def test_a_model_of_many_classes_does_not_rank() -> None:
    """Two classes are the log-odds of the second; three are an error."""
    from ragstone.components.rerankers.query_passage_pairs import one_score

    assert one_score(np.array([[1.0, 4.0], [2.0, 0.0]]), "m").tolist() == [3.0, -2.0]
    with pytest.raises(ConfigError, match="cannot rank passages"):
        one_score(np.zeros((1, 3)), "m")


def _save_bert(folder: Path, labels: int = 1) -> Path:
    """Save a BERT classifier with random weights, two layers of 16 dimensions."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder, safe_serialization=True)
    BertTokenizerFast(vocab={w: n for n, w in enumerate(WORDS)}).save_pretrained(folder)
    return folder


@needs_torch
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("labels", [1, 2])
def test_scores_are_the_models_own_outputs(tmp_path: Path, labels: int) -> None:
    """As transformers computes them, pair by pair, without padding and without a sigmoid."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = _save_bert(tmp_path / "m", labels)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    texts = [text for text in TEXTS if text]  # the library has a form of its own for an empty one
    expected = []
    for text in texts:
        with torch.no_grad():
            (row,) = model(**tokenizer("who built it", text, return_tensors="pt")).logits.tolist()
        expected.append(row[0] if labels == 1 else row[1] - row[0])
    made = CrossEncoder(str(folder), top_k=5, batch=2)

    found, cut = made.score([("who built it", text) for text in texts])

    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert cut == 0
    assert len({round(score, 4) for score in found}) == 3
    (ranking,) = reranked(made, [Search("q", "who built it")], [ALL])
    order = [f"p{[0, 1, 3, 4][n]}" for n in np.argsort(-np.array(expected), kind="stable")]
    assert [passage_id for passage_id in ranking.passage_ids if passage_id != "p2"] == order
    assert len(ranking) == 5


@needs_torch
@pytest.mark.filterwarnings("default")
def test_a_multilingual_classifier_scores_pairs(tmp_path: Path) -> None:
    """The form of bge-reranker-v2-m3: an XLM-RoBERTa without token types, one logit."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = save_xlmr(tmp_path / "m", "XLMRobertaForSequenceClassification", num_labels=1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    pairs = [("Brücke", "gold 河桥"), ("Brücke", "نهر"), ("河", "gold gold gold Brücke")]
    expected = []
    for pair in pairs:
        given = tokenizer(*pair, return_tensors="pt")
        assert "token_type_ids" not in given
        with torch.no_grad():
            expected.append(model(**given).logits.item())

    found, cut = CrossEncoder(str(folder), max_tokens=32, batch=2).score(pairs)

    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert cut == 0
    assert len({round(score, 4) for score in found}) == 3


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_a_multilingual_classifier_as_a_graph_scores_the_same(tmp_path: Path) -> None:
    """The exported graph reads tokens and mask alone, and has the same logit."""
    import torch
    from transformers import AutoModelForSequenceClassification

    folder = save_xlmr(tmp_path / "m", "XLMRobertaForSequenceClassification", num_labels=1)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval().requires_grad_(False)
    inputs = {name: torch.ones(1, 6, dtype=torch.int64) for name in ("input_ids", "attention_mask")}

    class Logits(torch.nn.Module):  # type: ignore[misc]
        def forward(self, ids: Any, mask: Any) -> Any:
            return model(input_ids=ids, attention_mask=mask).logits

    torch.onnx.export(
        Logits(),
        tuple(inputs.values()),
        str(folder / "model.onnx"),
        input_names=list(inputs),
        output_names=["logits"],
        dynamic_axes={name: {0: "batch", 1: "n"} for name in inputs},
        dynamo=False,
    )
    pairs = [("Brücke", "gold 河桥"), ("Brücke", "نهر"), ("河", "gold gold gold Brücke")]

    found, cut = CrossEncoderOnnx(str(folder), max_tokens=32).score(pairs)

    np.testing.assert_allclose(
        found, CrossEncoder(str(folder), max_tokens=32).score(pairs)[0], atol=1e-4
    )
    assert cut == 0


@needs_torch
@pytest.mark.filterwarnings("default")
def test_pairs_cut_by_sentence_transformers_are_counted(tmp_path: Path) -> None:
    """They are counted as with ONNX; a model of many classes is refused."""
    folder = _save_bert(tmp_path / "m")
    with collect_notes() as notes:
        reranked(CrossEncoder(str(folder), max_tokens=8), [Search("q", "who")], [ALL])
    assert dict(notes) == {"pairs of query and passage cut to 8 tokens": 1}
    with pytest.raises(ConfigError, match="cannot rank passages"):
        CrossEncoder(str(_save_bert(tmp_path / "n", 3))).score([("who", "bridge")])


def test_a_language_that_it_cannot_read_is_a_note(tmp_path: Path) -> None:
    """Both forms look at the same tokenizer, before a model is loaded."""
    folder = _write_graph(tmp_path / "m", _scored(), ["input_ids"])
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    dataset = Dataset.from_records(
        queries=[{"query_id": "q", "text": "谁 建造", "language": "zh"}],
        passages=[{"passage_id": "p", "text": "river bridge", "language": "en"}],
        qrels=[("q", "p", 1)],
    )

    for made in (CrossEncoder(str(folder)), CrossEncoderOnnx(str(folder))):
        (note,) = made.data_notes(dataset)
        assert "cannot read the queries in zh (100% of their tokens" in note


def test_without_sentence_transformers_the_error_has_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check before a run names the extra; pickled weights are refused."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingDependency, match=r"ragstone\[st\]"):
        CrossEncoder(str(tmp_path)).check(Services())
    (tmp_path / "config.json").write_text(json.dumps({}))
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ModelFileError, match="pickled weights are not read"):
        _ = CrossEncoder(str(tmp_path)).content_revision
