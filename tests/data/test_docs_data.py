"""The examples of docs/data.md can be read, and its output is that of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tools.shown_blocks import read_blocks

from ragstone.cli.data import command
from ragstone.data.describe import describe
from ragstone.data.load import load_dataset
from ragstone.errors import DatasetError

DOCS = Path(__file__).resolve().parents[2] / "docs" / "data.md"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A folder with every file that the page shows."""
    for block in read_blocks(DOCS):
        if block.title:
            path = tmp_path / block.title
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text)
    return tmp_path


def test_every_layout_shown_is_read(examples: Path) -> None:
    """The four folders of the page are data sets with the counts that the page implies."""
    own = load_dataset(examples / "my-set")
    assert own.qrels["c1::2"] == {"p2": 1}
    assert own.queries[3].labels == {"conversation": "c1", "turn": 2, "domain": "places"}
    assert own.queries[2].gold_answers == ("Yes, at 7:40.",)
    assert load_dataset(examples / "mirage").qrels == {"m1": {"m1#1": 2, "m1#2": 0}}
    assert load_dataset(examples / "squad").qrels == {"s1": {"1-1": 1}, "s2": {"1-1": 0}}


def test_the_page_shows_the_printed_output(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's `data show` is the command's output, to the letter."""
    monkeypatch.chdir(examples)
    result = CliRunner().invoke(command, ["show", "my-set"])
    shown = DOCS.read_text().split("$ ragstone data show my-set\n")[1].split("```")[0]
    assert result.output == shown


def test_the_keys_of_the_json_are_documented(examples: Path) -> None:
    """Each key of the JSON is in the page's table."""
    table = DOCS.read_text().split("--json` prints one object:")[1].split("\n\n`ragstone")[0]
    for key in vars(describe(load_dataset(examples / "my-set"))):
        assert f"`{key}`" in table


FAULTS: dict[str, tuple[str, str | bytes]] = {
    "a line that is not JSON": ("corpus.jsonl", '{"_id": "p1", "text": "a"}\n{"_id": '),
    "not UTF-8": ("corpus.jsonl", b'{"_id": "p", "text": "ca\xe9"}'),
    "a field that is missing or of the wrong type": ("queries.jsonl", '{"_id": 7, "text": "a"}'),
    "an id twice": ("corpus.jsonl", '{"_id": "p1", "text": "a"}\n{"_id": "p1", "text": "b"}'),
    "a query without a text": ("queries.jsonl", '{"_id": "q1", "text": " "}'),
    "an empty corpus": ("corpus.jsonl", ""),
    "a score that is not a whole number": ("qrels.tsv", "q1\tp1\t1\nq1\tp2\t0.5\n"),
    "qrels that name absent passages": (
        "qrels.tsv",
        "query-id\tcorpus-id\tscore\nq1\tp1\t2\nq1\tp2\t0\nc1::1\tp1\t1\nc1::2\tp9\t1\n",
    ),
    "no data set": ("song.ogg", "nothing"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_the_page_shows_the_real_messages(what: str, examples: Path) -> None:
    """Each row of the table of faults is what happens when a file is made so."""
    row = next(line for line in DOCS.read_text().splitlines() if line.startswith(f"| {what} |"))
    name, content = FAULTS[what]
    folder = examples / "my-set"
    if what == "no data set":
        for file in folder.iterdir():
            file.unlink()
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DatasetError) as caught:
        load_dataset(folder)
    shown = row.split("| `")[1].removesuffix("` |")
    assert all(part in str(caught.value) for part in shown.split("..."))
