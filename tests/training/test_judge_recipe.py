"""The training file of a judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.training.judge_recipe import JudgeRecipe
from ragstone.training.recipe import read_recipe


def test_the_defaults_are_those_of_a_small_encoder(tmp_path: Path) -> None:
    """Data and output are enough; the shared keys keep their names."""
    path = tmp_path / "judge.yaml"
    path.write_text("data: begin:x\noutput: out\noptim: {lr: 0.001}\n")

    recipe = read_recipe(path, JudgeRecipe)

    assert (recipe.base, recipe.method, recipe.head_only) == ("all-minilm-l6-v2", "full", False)
    assert (recipe.optim.epochs, recipe.optim.lr, recipe.optim.patience) == (8.0, 0.001, 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("acept: 0.5", "did you mean 'accept'"),
        ("accept: 2", "accept"),
        ("least: 0", "least"),
        ("test: 1.5", "test: input should be less than 1"),
        ("pooling: max", "pooling"),
    ],
)
def test_a_wrong_key_is_named(tmp_path: Path, line: str, message: str) -> None:
    """The error has the key, and a near name if there is one."""
    path = tmp_path / "judge.yaml"
    path.write_text(f"data: x\noutput: out\n{line}\n")

    with pytest.raises(ConfigError, match=message):
        read_recipe(path, JudgeRecipe)
