"""A causal base learns the words of a judge after the judge's own prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model

from ragstone.components.judges.verdict import Item
from ragstone.errors import ConfigError
from ragstone.models.text_classifier import ClassifierFacts, read_facts
from ragstone.training.causal_judge import CausalBase
from ragstone.training.classifier import ItemToLearn, judge_training
from ragstone.training.judge_bases import base_of
from ragstone.training.judge_recipe import JudgeOptim, JudgeRecipe
from ragstone.training.recipe import AdapterShape
from ragstone.types import Query

pytestmark = pytest.mark.needs("torch", "transformers", "peft", "gguf", "accelerate")


def labelled(number: int, label: str) -> ItemToLearn:
    """Return a right or a wrong answer."""
    answer = "Lisbon" if label == "yes" else "Porto"
    item = Item(Query(f"q{number}", f"Which city {number}?", ("Lisbon",)), answer)
    return ItemToLearn(f"q{number}", item, label, f"d{number}")


def facts_of(recipe: JudgeRecipe, *labels: str) -> ClassifierFacts:
    """Return the facts of a classifier with the prompt of the recipe's judge."""
    return ClassifierFacts(
        name="correct",
        labels=labels,
        positive="yes",
        inputs=("query", "answer"),
        base=recipe.base,
        base_digest="d",
        max_tokens=recipe.max_tokens,
        judge=recipe.judge,
    )


def test_the_adapter_makes_the_right_words_likelier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The untrained base is measured by the same prompt and words."""
    monkeypatch.setattr("ragstone.training.training.available_cpus", lambda: 1)
    base = tiny_chat_model(tmp_path / "base")
    recipe = JudgeRecipe(
        data="x",
        output=str(tmp_path / "out"),
        base=str(base),
        judge="equivalence",
        method="lora",
        max_tokens=2000,
        adapter=AdapterShape(r=4, alpha=8, dropout=0.0),
        optim=JudgeOptim(steps=4, batch=2, lr=0.01, validations=1, patience=None),
    )
    facts = facts_of(recipe, "no", "yes")
    items = [labelled(n, ("yes", "no")[n % 2]) for n in range(6)]
    parts = {"train": items[:4], "validation": items[4:], "test": items[4:]}
    made = base_of(recipe, facts)
    before = made.scores(None, items[4:])

    record = judge_training(recipe, made, facts, parts, data={}, files={}).run()

    assert record.validation[0]["loss"] > record.validation[-1]["loss"]
    after = made.scores(tmp_path / "out", items[4:])
    assert before.shape == after.shape == (2, 2)
    assert after.sum() > before.sum()
    assert read_facts(tmp_path / "out").judge == "equivalence"
    assert (tmp_path / "out/adapter_config.json").is_file()


def test_a_judge_with_other_words_is_refused(tmp_path: Path) -> None:
    """The error names the labels, before a model is loaded."""
    recipe = JudgeRecipe(data="x", output="y", base=str(tmp_path), judge="equivalence")

    with pytest.raises(ConfigError, match="has no verdict with the labels bad, good"):
        CausalBase.of(recipe, facts_of(recipe, "bad", "good"))
    ratings = JudgeRecipe(data="x", output="y", base=str(tmp_path), judge="RB_llm")
    with pytest.raises(ConfigError, match="has no verdict with the labels no, yes"):
        CausalBase.of(ratings, facts_of(ratings, "no", "yes"))
