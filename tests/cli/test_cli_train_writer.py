"""`ragstone train writer` and the test sets that its models write, on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests.fakes.ferries import LABELS, ferries
from tests.fakes.tiny_t5 import tiny_t5

from ragstone.cli.data import command as data_command
from ragstone.cli.train import command as train_command
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import ConfigError
from ragstone.models.in_process import unload

pytestmark = pytest.mark.needs("torch", "transformers", "peft")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two data sets, a base and a training file; no model is left in memory."""
    monkeypatch.chdir(tmp_path)
    for name, first in (("north", 0), ("south", 5)):
        Path(name).mkdir()
        write_dataset(ferries(name, 4, first), Path(name))
    tiny_t5(Path("base"))
    yield
    unload()


def keys(**more: Any) -> None:
    """Write the training file."""
    optim = {"steps": 2, "batch": 2, "lr": 0.01, "validations": 1}
    shape = {"r": 2, "alpha": 4}
    base = {"base": "./base", "output": "out", "labels": list(LABELS), "data": ["north", "south"]}
    document = {**base, "optim": optim, "adapter": shape, **more}
    Path("w.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")


def run(command: Any, *arguments: object) -> str:
    """Return the output of a command; an error is raised."""
    found = CliRunner().invoke(command, list(map(str, arguments)))
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.stdout


def test_a_trained_writer_writes_a_test_set_and_is_compared() -> None:
    """Trained, then used with one call per query; an untrained model's drafts are rejected."""
    keys()
    trained = json.loads(run(train_command, "writer", "w.yaml", "--json"))
    assert [one["step"] for one in trained["validation"]] == [0, 2]
    assert len(trained["loss"]) == 2
    assert trained["output"] == "out"

    strategy = ["--strategy", "writer(model=out)", "--no-label", "--max-tokens", "8"]
    made = [data_command, "generate", "north", "set", "--count", "2", "--rounds", "1", *strategy]
    summary = json.loads(run(*made, "--json"))
    assert (summary["strategy"], summary["tried"], summary["calls"]) == ("writer(model=out)", 2, 2)
    items = [json.loads(line) for line in Path("set/items.jsonl").read_text("utf-8").splitlines()]
    assert {item["asked_label"] for item in items} == set(LABELS)
    assert all(item["kept"] or item["reason"].startswith("writer: ") for item in items)
    assert items[0]["steps"][0]["prompt"].startswith("<<fact_single>> ")
    assert json.loads(run(*made, "--json")) == summary
    assert "writer(model=out)" in run(data_command, "compare-generated", "set")


def test_a_held_out_set_without_usable_passages_is_refused_before_training() -> None:
    """The error names the set; nothing is written."""
    keys()
    path = Path("south/corpus.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps({**row, "text": "It is."}) + "\n" for row in rows))
    with pytest.raises(ConfigError, match="--hold-out: south has no passage that queries"):
        run(train_command, "writer", "w.yaml", "--hold-out", "south")
    assert not Path("out").exists()


def test_each_set_is_held_out_once() -> None:
    """One model per set, trained on the others, and a test set of the held-out one."""
    keys()
    arguments = ["writer", "w.yaml", "--hold-out", "each", "--contexts", "2"]
    arguments += ["--max-tokens", "6", "--json"]
    found = json.loads(run(train_command, *arguments))["held_out"]
    assert list(found) == ["north", "south"]
    record = json.loads(Path("out/without-north/training.json").read_text("utf-8"))
    assert list(record["data"]["sets"]) == ["south"]
    items = Path("out/north/items.jsonl").read_text("utf-8").splitlines()
    pairs = [(i["passages"][0]["passage_id"], i["asked_label"]) for i in map(json.loads, items)]
    assert len(pairs) == len(set(pairs)) == found["north"]["tried"] == 4
    assert {passage for passage, _ in pairs} <= {"p0", "p1", "p2", "p3"}
    again = json.loads(run(train_command, *arguments))["held_out"]
    assert again == found


def test_what_cannot_be_held_out_is_refused() -> None:
    """Before anything is trained."""
    keys(data="north")
    with pytest.raises(ConfigError, match="needs two data sets or more, found north"):
        run(train_command, "writer", "w.yaml", "--hold-out", "each")
    keys()
    with pytest.raises(ConfigError, match="no data set 'nort'; did you mean 'north'"):
        run(train_command, "writer", "w.yaml", "--hold-out", "nort")
    keys(labls=["summary"])
    with pytest.raises(ConfigError, match="labls"):
        run(train_command, "writer", "w.yaml")
    assert not Path("out").exists()
