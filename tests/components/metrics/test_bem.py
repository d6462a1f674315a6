"""BEM: a small classifier made here gets the input that the paper's model was trained on."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from tests.support import answer_value

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.answer_equivalence import load_classifier
from ragstone.components.metrics.bem import BEM
from ragstone.components.metrics.parse import parse_metric
from ragstone.core.offline import no_network
from ragstone.errors import ConfigError, ModelFileError

needs_torch = pytest.mark.needs("torch", "transformers")
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] what does it weigh rain seldom rare 3 kg three kilos a"
QUESTION = "what does it weigh"


def made_model(folder: Path, labels: int = 2, segments: int = 2) -> Path:
    """Write a BERT classifier of two layers with random weights and return its folder."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS.split()), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(WORDS.split()),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        type_vocab_size=segments,
        num_labels=labels,
        initializer_range=0.8,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a classifier."""
    return made_model(tmp_path_factory.mktemp("bem") / "model")


def expected(folder: Path, candidate: str, reference: str) -> float:
    """Return the probability by the example on the published model's card."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    net: Any = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    inputs = tokenizer(
        text=f"[CLS] {candidate} [SEP]",
        text_pair=f"{reference} [SEP] {QUESTION} [SEP]",
        add_special_tokens=False,
        return_tensors="pt",
    )
    with torch.inference_mode():
        return float(torch.softmax(net(**inputs).logits, dim=-1)[0, 1])


@needs_torch
def test_the_value_is_that_of_the_published_example(model: Path) -> None:
    """Candidate, reference and question in this order, with the segments of the model's card."""
    name = f"BEM(model={model})"
    for candidate, reference in (("3 kg", "three kilos"), ("three kilos", "3 kg"), ("rain", "a")):
        value = answer_value(name, candidate, [reference], QUESTION)
        assert value == pytest.approx(expected(model, candidate, reference), abs=1e-6)
    forward, back = (answer_value(name, *x, QUESTION) for x in (("3 kg", ["a"]), ("a", ["3 kg"])))
    assert forward != pytest.approx(back, abs=1e-3)


@needs_torch
def test_the_most_probable_gold_answer_counts(model: Path) -> None:
    """Several pairs are computed in batches; padding changes no value. A blank answer gets 0."""
    answers = ["3 kg", "rain", "  ", "seldom rain a a a a"]
    gold: list[tuple[str, ...]] = [("three kilos", "a"), ("rare",), ("a",), ("a", "rare rain")]
    pairs = AnswerBatch(answers, gold, [QUESTION] * 4, [None] * 4, [""] * 4)

    found = BEM(str(model)).values(pairs)

    best = [
        max(expected(model, a, g) for g in labels) if a.strip() else 0.0
        for a, labels in zip(answers, gold, strict=True)
    ]
    assert found.tolist() == pytest.approx(best, abs=1e-6)


@needs_torch
def test_a_long_answer_is_cut_and_the_question_stays(
    model: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The longest text is cut, so that the input has at most 32 tokens; a warning counts it."""
    with caplog.at_level(logging.WARNING):
        value = answer_value(f"BEM(model={model})", "rain " * 50, ["3 kg"], QUESTION)

    assert value == pytest.approx(expected(model, "rain " * 22, "3 kg"), abs=1e-6)
    assert "BEM: 1 inputs cut to 32 tokens" in caplog.text


@needs_torch
def test_one_output_and_three_segments(tmp_path: Path) -> None:
    """One output is read by the logistic function; a third segment is the question's."""
    found = made_model(tmp_path / "one", labels=1, segments=3)
    classifier = load_classifier(str(found), 512)

    assert 0 < answer_value(f"BEM(model={found})", "3 kg", ["a"], QUESTION) < 1
    assert classifier._input(("rain", "a", "3 kg")).segments == [0, 0, 0, 1, 1, 2, 2, 2]  # type: ignore[arg-type]


@needs_torch
def test_a_model_without_a_classifier_is_refused(tmp_path: Path, model: Path) -> None:
    """Three outputs, an encoder without trained outputs, and a folder without a model."""
    from transformers import BertModel

    three = made_model(tmp_path / "three", labels=3)
    BertModel.from_pretrained(model).save_pretrained(tmp_path / "bare")
    for file in model.glob("*token*"):
        (tmp_path / "bare" / file.name).write_bytes(file.read_bytes())
    (tmp_path / "empty").mkdir()
    for folder in (three, tmp_path / "bare"):
        with pytest.raises(ModelFileError, match="not a classifier of answer equivalence"):
            load_classifier(str(folder), 512)
    with pytest.raises(ModelFileError, match=r"config\.json"):
        load_classifier(str(tmp_path / "empty"), 512)


@needs_torch
def test_the_published_model_is_never_guessed() -> None:
    """Without network and cache the error names the model and a folder as the way out."""
    with no_network(), pytest.raises(ModelFileError, match=r"answer-equivalence-bem.*model=FOLDER"):
        load_classifier(BEM().model, 512)


def test_names_and_options() -> None:
    """The name contains the model unless it is the published one; bad options are refused."""
    assert str(parse_metric("bem")) == "BEM"
    assert str(parse_metric("BEM(model=/models/bem)")) == "BEM(model=/models/bem)"
    with pytest.raises(ConfigError, match="max_tokens must be 16 or more"):
        parse_metric("BEM(max_tokens=3)")
    with pytest.raises(ConfigError, match="without commas"):
        BEM("a,b")
