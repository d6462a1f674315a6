"""Training files: defaults of the paper, and the key of every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.training.recipe import GeneratorRecipe, read_recipe, require_output

KEYS = "base: x\ndata: sample\noutput: out\n"


def read(folder: Path, text: str) -> GeneratorRecipe:
    """Return a file's recipe."""
    (folder / "t.yaml").write_text(KEYS + text, encoding="utf-8")
    return read_recipe(folder / "t.yaml", GeneratorRecipe)


def test_the_defaults_are_those_of_bergen(tmp_path: Path) -> None:
    """Table 8: r 32, alpha 64, dropout .1, all linear layers, 1e-4, warm-up .05, one epoch."""
    found = read(tmp_path, "")
    shape, optim = found.adapter, found.optim
    assert (shape.r, shape.alpha, shape.dropout, shape.targets) == (32, 64, 0.1, "all-linear")
    assert (optim.lr, optim.warmup, optim.weight_decay, optim.epochs) == (1e-4, 0.05, 0.1, 1)
    assert (found.method, found.setting, optim.batch) == ("lora", "retrieved(5)", None)


def test_the_keys_of_the_issue_are_read(tmp_path: Path) -> None:
    """base, data, setting, method, adapter, optim, seed, output."""
    text = (
        "setting: [gold, none]\nmethod: qlora(4)\nseed: 3\n"
        "adapter: {r: 8, alpha: 16, dropout: 0, targets: [q_proj, v_proj]}\n"
        "optim: {steps: 40, batch: 4, lr: 0.0002}\n"
    )
    found = read(tmp_path, text)
    assert found.adapter.targets == ("q_proj", "v_proj")
    assert (found.optim.steps, found.optim.batch, found.optim.lr) == (40, 4, 2e-4)
    assert (found.method, found.seed, found.setting) == ("qlora(4)", 3, ["gold", "none"])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("optim: {lrr: 1}", "lrr"),
        ("method: dora", "method"),
        ("optim: {steps: 0}", "steps"),
        ("optim: {lr: -1}", "lr"),
        ("adapter: {r: 0}", "adapter.r"),
        ("validation: 1.5", "validation: a share must be at least 0 and below 1, found 1.5"),
        ("test: -0.1", "test: a share"),
        ("epochs: 3", "epochs"),
        ("'list[str]': 3", r"list\[str\]: unknown key"),
        ("device: tpu", "device"),
        (
            "adapter: {targets: q_proj}",
            "targets: input should be 'all-linear', or a list is needed",
        ),
    ],
)
def test_mistakes_name_their_key(tmp_path: Path, text: str, named: str) -> None:
    """Nothing is loaded before the file is right."""
    with pytest.raises(ConfigError, match=named):
        read(tmp_path, text)


@pytest.mark.parametrize("output", ["file", "file/below"])
def test_an_output_that_cannot_be_a_folder_is_refused(tmp_path: Path, output: str) -> None:
    """The base is not loaded for it."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "t.yaml").write_text(f"base: x\ndata: sample\noutput: {tmp_path / output}\n")
    with pytest.raises(ConfigError, match=r"cannot be written: .*file is a file; choose another"):
        read_recipe(tmp_path / "t.yaml", GeneratorRecipe)


def test_an_output_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest folder that exists is named."""
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(ConfigError, match=f"no permission to write into {tmp_path}"):
        require_output(tmp_path / "new" / "out")
