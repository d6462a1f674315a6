"""`ragstone build mirage`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.building.test_mirage import rivers

from ragstone.cli.build import command
from ragstone.data.load import load_dataset
from ragstone.data.writers.folder import write_dataset
from ragstone.testing import FakeExpert, FakeModelServer


def ragstone(*arguments: str) -> Result:
    """Run `ragstone build` with some arguments."""
    return CliRunner().invoke(command, arguments)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return the folder of a data set with six articles."""
    write_dataset(rivers(), tmp_path / "rivers")
    return tmp_path / "rivers"


def test_a_benchmark_is_built_again_without_a_call(tmp_path: Path, corpus: Path) -> None:
    """The JSON has the promised shape; a repetition asks nothing; the set can be shown."""
    made = tmp_path / "made"
    with FakeModelServer(answer=FakeExpert(rivers(), known={"Minho"})) as server:
        model = f"chat(base_url={server.url}, model=fake)"
        command = ["mirage", made, "--qa", corpus, "--corpus", corpus, "--chunker", "none"]
        command += ["--judge", model, "--reader", model, "--json"]
        first = ragstone(*map(str, command))
        assert first.exit_code == 0, first.output
        asked = sum(server.asked.values())
        again = ragstone(*map(str, command), "--chart", str(tmp_path / "funnel.svg"))
        assert sum(server.asked.values()) == asked
    document = json.loads(first.stdout)
    assert json.loads(again.stdout) == document
    assert document["stages"][-1] == {"stage": "title", "in": 5, "out": 5, "rejected": {}}
    assert document["dataset"] == str(made)
    assert document["recipe"]["judge"] == ["fake"]
    assert len(load_dataset(str(made)).queries) == 5
    assert (tmp_path / "funnel.svg").stat().st_size
    files = {path.name for path in made.iterdir()}
    assert {"labels.jsonl", "to-label.jsonl", "rejected.parquet", "croissant.json"} <= files
    assert "rivers" in (made / "README.md").read_text(encoding="utf-8")


def test_labels_by_probability_have_the_form_of_labels_by_words(
    tmp_path: Path, corpus: Path
) -> None:
    """`--method logprob` requests one token; a model that is sure gives the same files."""
    files = {}
    with FakeModelServer(answer=FakeExpert(rivers())) as server:
        model = f"chat(base_url={server.url}, model=fake)"
        for method in ("text", "logprob"):
            made = tmp_path / method
            found = ragstone(
                *("mirage", str(made), "--qa", str(corpus), "--corpus", str(corpus)),
                *("--chunker", "none", "--judge", model, "--reader", model),
                *("--method", method, "--json"),
            )
            assert found.exit_code == 0, found.output
            assert json.loads(found.stdout)["recipe"]["method"] == method
            files[method] = (made / "labels.jsonl").read_bytes()
    assert files["logprob"] == files["text"]


def test_the_plan_makes_no_call(tmp_path: Path, corpus: Path) -> None:
    """`--plan` prints the largest number of calls: 40 controls, and 2 x 2 + 1 per query."""
    with FakeModelServer() as server:
        model = f"chat(base_url={server.url}, model=fake)"
        found = ragstone(
            *("mirage", str(tmp_path / "made"), "--qa", str(corpus)),
            *("--corpus", str(corpus), "--chunker", "none", "--plan", "--json"),
            *("--judge", model, "--reader", model),
        )
        assert json.loads(found.stdout) == {"calls": 70}
        assert not server.asked


def test_a_folder_of_other_files_is_refused(tmp_path: Path, corpus: Path) -> None:
    """Nothing is spent, and the folder is named."""
    found = ragstone("mirage", str(tmp_path), "--qa", str(corpus), "--corpus", str(corpus))
    assert found.exit_code
    assert "is not a built benchmark" in str(found.exception)
