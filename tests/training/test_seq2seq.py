"""A model of the T5 family in training: its loss, its examples and its new token."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.tiny_t5 import tiny_t5

from ragstone.models.seq2seq import load_seq2seq
from ragstone.training.examples import Example
from ragstone.training.recipe import Recipe
from ragstone.training.seq2seq import Seq2SeqLearner, add_token, seq2seq_example

pytestmark = pytest.mark.needs("torch", "transformers", "peft")
RECIPE = Recipe(base="x", data="x", output="x")


def test_the_loss_of_a_batch_is_the_sum_of_its_examples(tmp_path: Path) -> None:
    """Filling has no influence."""
    import torch

    torch.set_num_threads(1)
    tokenizer, model = load_seq2seq(tiny_t5(tmp_path / "t5"), "t5", "cpu", "float32")
    learner = Seq2SeqLearner(model.eval(), tokenizer.pad_token_id, RECIPE)
    examples = [
        seq2seq_example(tokenizer, "short", "a long target"),
        seq2seq_example(tokenizer, "a much longer prompt", "b"),
    ]
    with torch.no_grad():
        alone = sum(float(learner.loss([one])) for one in examples)
        together = float(learner.loss(examples))
    assert together == pytest.approx(alone, rel=1e-5)
    assert learner.targets(examples) == len("a long target") + len("b") + 2


def test_an_example_has_both_texts_with_their_ends(tmp_path: Path) -> None:
    """The tokenizer of the folder writes the end token."""
    tokenizer, _ = load_seq2seq(tiny_t5(tmp_path / "t5"), "t5", "cpu", "float32")
    found = seq2seq_example(tokenizer, "a", "b")
    end = tokenizer.eos_token_id
    assert isinstance(found, Example)
    assert (found.prompt[-1], found.target[-1], len(found)) == (end, end, 4)


@pytest.mark.parametrize(
    ("own_output", "spare", "rows"),
    [
        (False, 0, ["shared"]),
        (True, 0, ["decoder.embed_tokens", "lm_head"]),
        (True, 4, ["decoder.embed_tokens", "lm_head"]),
    ],
)
def test_a_new_token_begins_as_the_mean_of_all(
    tmp_path: Path, own_output: bool, spare: int, rows: list[str]
) -> None:
    """It is one token, which the text keeps, with a row in each matrix that differs."""
    import torch

    path = tiny_t5(tmp_path / "t5", own_output=own_output, spare=spare)
    tokenizer, model = load_seq2seq(path, "t5", "cpu", "float32")
    before = len(tokenizer)
    found = add_token(model, tokenizer, "<a>")

    assert found == {layer: [before] for layer in rows}
    ids = tokenizer("Who?<a>Ann", add_special_tokens=False)["input_ids"]
    assert ids.count(before) == 1
    assert tokenizer.decode(ids, skip_special_tokens=True) == "Who?<a>Ann"
    for layer in (model.get_input_embeddings(), model.get_output_embeddings()):
        torch.testing.assert_close(layer.weight[before], layer.weight[:before].mean(0))
