"""BERTScore against the package `bert-score`, the same encoder in both, on real answers."""

from __future__ import annotations

import gzip
import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from ragstone.components.metrics import bert_encoder
from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.bert_encoder import bert_scores
from ragstone.components.metrics.parse import parse_metric
from ragstone.models.files import model_file
from ragstone.types import Context, ContextPassage

pytestmark = pytest.mark.needs("torch", "transformers", "bert_score", model="all-minilm-l6-v2")

SharedData: TypeAlias = Callable[[str], Path]
SUBSET = "human_evaluations/reference_subset_with_human_evaluations.json.gz"


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a folder with the bundled encoder, as transformers would have saved it."""
    folder = tmp_path_factory.mktemp("minilm")
    for file in model_file("all-minilm-l6-v2").parent.iterdir():
        shutil.copy(file, folder)
    # The package takes the length at which texts are cut from here alone.
    settings = {"tokenizer_class": "BertTokenizer", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return str(folder)


@pytest.fixture(scope="module")
def answered(shared_data: SharedData) -> list[dict[str, Any]]:
    """Return mtRAG's model responses with the reference answer and the passages of their task."""
    with gzip.open(shared_data("mtrag") / SUBSET, "rt", encoding="utf-8") as file:
        subset = json.load(file)
    tasks = {task["task_id"]: task for task in subset["tasks"]}
    texts = {document["document_id"]: document["text"] for document in subset["documents"]}
    return [
        {
            "answer": row["model_response"],
            "gold": tasks[row["task_id"]]["targets"][0]["text"],
            "passages": [texts[c["document_id"]] for c in tasks[row["task_id"]]["contexts"]],
        }
        for row in subset["evaluations"]
        if row["model_id"] != "reference"
    ]


@pytest.fixture(autouse=True)
def blank_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tokenizers the method that the package calls for blank texts, gone in transformers 5."""
    from transformers import PreTrainedTokenizerBase

    def marks_alone(tokenizer: Any, ids: list[int]) -> list[int]:
        return [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id]

    monkeypatch.setattr(
        PreTrainedTokenizerBase, "build_inputs_with_special_tokens", marks_alone, raising=False
    )


def package_scores(
    pairs: list[tuple[str, str]], model: str, layer: int, **options: Any
) -> list[list[float]]:
    """Return precision, recall and F1 as the package computes them, one pair at a time.

    In a batch the package pads cosines with 0, which replaces negative cosines of tokens.
    """
    score = importlib.import_module("bert_score").score
    options["batch_size"] = 1
    said, wanted = zip(*pairs, strict=True)
    found = score(list(said), list(wanted), model_type=model, num_layers=layer, **options)
    return [part.tolist() for part in found]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("layer", [6, 4])
def test_real_answers_get_the_packages_scores(
    minilm: str, answered: list[dict[str, Any]], layer: int
) -> None:
    """Precision, recall and F1 of 32 answers to 1e-5, at the last layer and below it."""
    pairs = [(row["answer"], row["gold"]) for row in answered[::10]]
    assert len(pairs) == 32

    found = bert_scores(pairs, minilm, layer)

    theirs = package_scores(pairs, minilm, layer)
    np.testing.assert_allclose(np.transpose(found), theirs, atol=1e-5, rtol=0)
    assert np.std(theirs[0]) > 0.01


@pytest.mark.filterwarnings("default")
def test_odd_texts_get_the_packages_scores(minilm: str) -> None:
    """Blank answers, white space around, marks written out, a text longer than the model reads."""
    long = "The river was dredged again in spring. " * 90
    gold = "Lisbon lies on the Tagus."
    texts = ["", "  ", " Lisbon \n", "Lisbon [SEP] Porto [SEP]", "里斯本", "a", long]

    found = bert_scores([(text, gold) for text in texts], minilm, 6)

    theirs = package_scores([(text, gold) for text in texts], minilm, 6)
    np.testing.assert_allclose(np.transpose(found), theirs, atol=1e-5, rtol=0)
    assert found[0].f1 == found[1].f1 == 0.0


@pytest.mark.filterwarnings("default", "ignore:The given NumPy array is not writable")
def test_several_gold_answers_and_a_baseline(minilm: str, tmp_path: Path) -> None:
    """The best gold answer counts for each of the three; rescaling is the package's."""
    golds = ("Lisbon is Portugal's capital city.", "It is Lisbon.")
    answers = ["The capital of Portugal is Lisbon.", "Bananas are yellow.", ""]
    baseline = tmp_path / "baseline.tsv"
    lines = ["LAYER,P,R,F", *(f"{layer},0.31,0.32,0.33" for layer in range(7))]
    baseline.write_text("\n".join(lines), encoding="utf-8")
    theirs = importlib.import_module("bert_score").score(
        answers, [list(golds)] * 3, model_type=minilm, num_layers=6, lang="en",
        rescale_with_baseline=True, baseline_path=str(baseline),
    )  # fmt: skip

    pairs = AnswerBatch(answers, [golds] * 3, [""] * 3, [None] * 3, [""] * 3)
    for part, number, values in zip(["P", "R", "F1"], (0.31, 0.32, 0.33), theirs, strict=True):
        metric = parse_metric(f"BERTScore-{part}(model={minilm},baseline={number})")
        assert metric.values(pairs) == pytest.approx(values.tolist(), abs=1e-5)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("default")
def test_k_precision_is_the_best_passages_precision(
    minilm: str, answered: list[dict[str, Any]]
) -> None:
    """As mtRAG's script takes it: passages scored one by one, the highest precision kept."""
    rows = [row for row in answered if len(row["passages"]) > 1][:8]
    shown = [
        [ContextPassage(str(k), text, "retrieved") for k, text in enumerate(row["passages"])]
        for row in rows
    ]
    contexts = [Context(str(i), "given", tuple(passages)) for i, passages in enumerate(shown)]
    pairs = AnswerBatch([r["answer"] for r in rows], [()] * 8, [""] * 8, contexts, [""] * 8)

    found = parse_metric(f"Bert-K-Precision(model={minilm})").values(pairs)  # type: ignore[arg-type]

    flat = [(row["answer"], text) for row in rows for text in row["passages"]]
    theirs = iter(package_scores(flat, minilm, 6)[0])
    assert found == pytest.approx(
        [max(next(theirs) for _ in r["passages"]) for r in rows], abs=1e-5
    )


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("kind", ["deberta", "roberta", "deberta-v2", "electra"])
def test_other_kinds_of_encoder(minilm: str, tmp_path: Path, kind: str) -> None:
    """Random models of other architectures are cut at a layer as the package cuts them."""
    import torch
    from transformers import AutoConfig, AutoModel

    relative = {
        "relative_attention": True,
        "position_biased_input": False,
        "max_relative_positions": 64,
        "pos_att_type": ["c2p", "p2c"],
        "type_vocab_size": 0,
    }
    config = AutoConfig.for_model(
        kind,
        vocab_size=30522,
        hidden_size=32,
        num_hidden_layers=5,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=514,
        pad_token_id=0,
        **(relative if kind.startswith("deberta") else {}),
    )
    torch.manual_seed(3)
    AutoModel.from_config(config).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path(minilm) / name, tmp_path)
    pairs = [("Lisbon lies on the Tagus.", "The capital of Portugal is Lisbon."), ("a", "b c d")]

    found = bert_scores(pairs, str(tmp_path), 3)

    theirs = package_scores(pairs, str(tmp_path), 3)
    np.testing.assert_allclose(np.transpose(found), theirs, atol=1e-5, rtol=0)
    assert vars(bert_encoder.load(str(tmp_path), 3, 512))["layer"] is None
