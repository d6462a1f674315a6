"""A generator learns gold answers after the prompt with its contexts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model

from ragstone.errors import ConfigError, ModelFileError
from ragstone.training.examples import Example
from ragstone.training.generator import drawn_settings, generator_training
from ragstone.training.recipe import AdapterShape, GeneratorRecipe, Optim
from ragstone.training.training import Training
from ragstone.types import Context, ContextPassage, Query, Task

pytestmark = pytest.mark.needs("torch", "transformers", "peft")
FEW = Optim(steps=6, batch=2, lr=1e-2, validations=2)


def task(number: int, answer: str | None = None) -> Task:
    """Return a query about a passage of its own."""
    answer = f"at {number}:00" if answer is None else answer
    passage = ContextPassage(f"p{number}", f"Ferry {number} leaves at {number}:00.", "gold")
    query = Query(f"q{number}", f"When does ferry {number} leave?", (answer,) if answer else ())
    return Task(query, Context(query.query_id, "gold", (passage,)))


def made(folder: Path, recipe: GeneratorRecipe, count: int = 6) -> Training[Example]:
    """Return a training of a tiny model on made queries."""
    if not (folder / "base").exists():
        tiny_chat_model(folder / "base")
    parts = {
        "train": [task(n) for n in range(count)],
        "validation": [task(n) for n in range(20, 23)],
    }
    return generator_training(
        recipe, parts, {"name": "ferries"}, files={"splits/train.txt": "q0\n"}
    )


def recipe(folder: Path, output: str = "out", **more: Any) -> GeneratorRecipe:
    """Return the keys of a short training."""
    given: dict[str, Any] = {"optim": FEW, "adapter": AdapterShape(r=4, alpha=8), **more}
    return GeneratorRecipe(
        base=str(folder / "base"), data="x", output=str(folder / output), **given
    )


def test_the_validation_loss_falls_and_a_second_run_trains_nothing(tmp_path: Path) -> None:
    """The output has an adapter, the queries of each split and the record."""
    record = made(tmp_path, recipe(tmp_path)).run()

    assert len(record.loss) == 6
    assert [one["step"] for one in record.validation] == [0, 3, 6]
    assert record.validation[-1]["loss"] < record.validation[0]["loss"]
    out = tmp_path / "out"
    names = {"adapter_config.json", "adapter_model.safetensors", "splits", "training.json"}
    assert names <= {path.name for path in out.iterdir()}
    assert not (out / "checkpoint").exists()

    again = made(tmp_path, recipe(tmp_path)).run()
    assert again == record


def test_the_same_file_gives_the_same_digest(tmp_path: Path) -> None:
    """Into another folder; another seed gives another one."""
    first = made(tmp_path, recipe(tmp_path, "a")).run()
    assert made(tmp_path, recipe(tmp_path, "b")).run().digest == first.digest
    assert made(tmp_path, recipe(tmp_path, "c", seed=1)).run().digest != first.digest


def test_another_training_is_not_overwritten(tmp_path: Path) -> None:
    """The differing keys are named; a folder of something else is refused too."""
    made(tmp_path, recipe(tmp_path)).run()
    with pytest.raises(ConfigError, match="another training: seed differ"):
        made(tmp_path, recipe(tmp_path, seed=3)).run()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("tea", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not empty and has no training"):
        made(tmp_path, recipe(tmp_path, "notes")).run()


def test_full_training_writes_a_whole_model(tmp_path: Path) -> None:
    """A folder that transformers loads, with its tokenizer."""
    from ragstone.models.causal_lm import load_causal_lm

    record = made(tmp_path, recipe(tmp_path, method="full")).run()
    assert record.validation[-1]["loss"] < record.validation[0]["loss"]
    load_causal_lm(tmp_path / "out", "out", "cpu", "float32")


def test_queries_without_an_answer_and_long_ones_are_noted(tmp_path: Path) -> None:
    """They are not learned; without any example there is no training."""
    tiny_chat_model(tmp_path / "base")
    parts = {"train": [task(1), task(2, "")], "validation": []}
    keys = recipe(tmp_path)
    training = generator_training(keys, parts, {}, files={})
    assert len(training.examples) == 1
    assert training.notes == ["1 queries without a gold answer were left out (train)"]
    none = generator_training(replace(keys, max_tokens=10), parts, {}, files={})
    assert "1 examples of more than 10 tokens were left out (train)" in none.notes
    with pytest.raises(ConfigError, match="nothing to learn"):
        none.run()


def test_a_base_that_cannot_be_trained_is_refused(tmp_path: Path) -> None:
    """No chat template, no such layers, no such model."""
    tiny_chat_model(tmp_path / "base", template="")
    with pytest.raises(ConfigError, match="no chat template"):
        made(tmp_path, recipe(tmp_path))
    other = tmp_path / "other"
    other.mkdir()
    layers = AdapterShape(targets=("wq", "wk"))
    with pytest.raises(ConfigError, match=r"its linear layers are .*q_proj"):
        made(other, recipe(other, adapter=layers)).run()
    with pytest.raises(ModelFileError, match="there is no model"):
        made(other, replace(recipe(other), base="./nowhere"))


def test_settings_are_drawn_by_query() -> None:
    """The draw of a query does not depend on the other queries."""
    all_drawn = drawn_settings([f"q{n}" for n in range(50)], ["gold", "none"], 1)
    assert set(all_drawn.values()) == {"gold", "none"}
    assert drawn_settings(["q7"], ["gold", "none"], 1)["q7"] == all_drawn["q7"]


def test_queries_without_the_setting_are_counted(tmp_path: Path) -> None:
    """Those of a part that have no context are not missing in silence."""
    tiny_chat_model(tmp_path / "base")
    parts = {"train": [task(1)], "validation": [task(2)]}
    data = {"name": "ferries", "train": 4, "validation": 1}
    found = generator_training(recipe(tmp_path), parts, data, files={})
    assert found.notes == [
        "3 queries of the train part were left out: their setting does not apply to them"
    ]
