"""The examples of docs/data.md are files that are read here, and its output is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command
from ragstone.datasets.describing import describe
from ragstone.datasets.loading import load_dataset

DOCS = Path(__file__).resolve().parents[2] / "docs" / "data.md"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A folder with every file that the page shows."""
    blocks = re.findall(r"^```\w+ (\S+/\S+)\n(.*?)^```", DOCS.read_text(), re.DOTALL | re.MULTILINE)
    for name, text in blocks:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_every_layout_shown_is_read(examples: Path) -> None:
    """The four folders of the page are data sets with the counts that the page implies."""
    own = load_dataset(examples / "my-set")
    assert own.qrels["c1::2"] == {"p2": 1}
    assert own.queries[3].labels == {"conversation": "c1", "turn": 2, "domain": "places"}
    assert own.queries[2].gold_answers == ("Yes, at 7:40.",)
    assert load_dataset(examples / "mirage").qrels == {"m1": {"m1#1": 2, "m1#2": 0}}
    assert load_dataset(examples / "squad").qrels == {"s1": {"1-1": 1}, "s2": {"1-1": 0}}


def test_the_output_shown_is_what_is_printed(
    examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's `data show` is the command's output, to the letter."""
    monkeypatch.chdir(examples)
    result = CliRunner().invoke(command, ["show", "my-set"])
    shown = DOCS.read_text().split("$ ragstone data show my-set\n")[1].split("```")[0]
    assert result.output == shown


def test_the_keys_of_the_json_are_documented(examples: Path) -> None:
    """Each key of the JSON stands in the page's table."""
    table = DOCS.read_text().split("--json` prints one object:")[1].split("\n\n`ragstone")[0]
    for key in vars(describe(load_dataset(examples / "my-set"))):
        assert f"`{key}`" in table
