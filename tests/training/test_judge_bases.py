"""The encoder as the base of a judge: examples, limits, the loss of a batch."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests.fakes.tiny_word_encoder import tiny_encoder

from ragstone.components.judges.verdict import Item
from ragstone.errors import ConfigError
from ragstone.models.text_classifier import ClassifierFacts
from ragstone.training.classifier import ItemToLearn
from ragstone.training.judge_bases import EncoderBase
from ragstone.training.judge_recipe import JudgeRecipe
from ragstone.types import Query

pytestmark = pytest.mark.needs("torch", "transformers")
FACTS = ClassifierFacts(
    name="kind",
    labels=("a", "b"),
    positive="b",
    inputs=("query",),
    base="b",
    base_digest="d",
    max_tokens=8,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny random BERT."""
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.mark.parametrize("head_only", [False, True])
def test_an_untrained_classifier_is_indifferent(folder: Path, head_only: bool) -> None:
    """Its loss per label is log 2, for tokens and for kept states; cut inputs are noted."""
    recipe = JudgeRecipe(data="x", output="y", base=str(folder), max_tokens=8, head_only=head_only)
    base, notes = EncoderBase.of(recipe, FACTS), list[str]()
    texts = ["rain snow", "fog " * 20]
    items = [
        ItemToLearn(f"q{n}", Item(Query(f"q{n}", text)), "ab"[n], f"d{n}")
        for n, text in enumerate(texts)
    ]

    examples = base.examples(items, notes)
    learner = base.learner()

    assert notes == ["1 of 2 inputs were cut to 8 tokens"]
    assert learner.targets(examples) == 2
    assert float(learner.loss(examples).detach()) == pytest.approx(2 * math.log(2), rel=1e-5)
    trainable = [name for name, one in learner.model.named_parameters() if one.requires_grad]
    assert ("head.weight" in trainable, len(trainable) == 2) == (True, head_only)


def test_more_tokens_than_the_encoder_reads_are_refused(folder: Path) -> None:
    """The error has the number that fits."""
    recipe = JudgeRecipe(data="x", output="y", base=str(folder), max_tokens=999)

    with pytest.raises(ConfigError, match="reads 64 tokens; write max_tokens: 64 or less"):
        EncoderBase.of(recipe, FACTS)
