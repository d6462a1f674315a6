"""`ragstone data translate`: plan, resume, budget, failed rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command
from ragstone.core import limits
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError
from ragstone.testing import FakeModelServer
from ragstone.testing.fake_model_server import Messages


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "set"
    source.mkdir()
    passages = [{"_id": f"p{n}", "text": f"Der {n}. Fluss ist lang."} for n in range(4)]
    write(source / "corpus.jsonl", passages)
    write(source / "queries.jsonl", [{"_id": "q", "text": "Wo?", "answers": ["dort"]}])
    (source / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp1\t1\nq\tp2\t1\n")


def write(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def run(server: FakeModelServer, *arguments: str) -> str:
    """Run the command and return its output; an error is raised."""
    model = f"chat(model=m, base_url='{server.url}')"
    given = ["translate", "set", "--to", "en", "-o", "out", "--model", model, *arguments]
    result = CliRunner().invoke(command, given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def english(messages: Messages) -> str:
    """Translate all passages but the second."""
    text = messages[-1]["content"]
    return "" if "1." in text else text.replace("Der", "River").replace("Fluss ist lang", "is long")


def test_a_data_set_is_translated_once() -> None:
    """The plan asks nothing, a failed row is listed, and a rerun takes the kept replies."""
    with FakeModelServer(answer=english) as server:
        plan = json.loads(run(server, "--plan", "--json"))
        assert plan == {"calls": 4}
        assert not server.bodies
        text = run(server)
        again = json.loads(run(server, "--json"))
        assert len(server.bodies) == 4

    assert "1 judgements of rows that are left out are left out too" in text
    assert again["passages"] == {
        "read": 4, "translated": 3, "failed": 1, "not_reached": 0,
    }  # fmt: skip
    assert again["calls"] == {"asked": 0, "kept": 4}
    read = load_dataset("out")
    assert read.corpus.passage_ids == ["p0", "p2", "p3"]
    assert read.queries[0].text == "Wo?"
    assert json.loads(Path("out/left_out.jsonl").read_text()) == {
        "kind": "passages",
        "id": "p1",
        "reason": "not translated: the model wrote nothing",
    }
    assert json.loads(Path("out/translation.json").read_text())["partial"] == ""


def test_a_maximum_of_calls_makes_a_partial_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same command without it completes the set, and asks only for the rest."""
    monkeypatch.setattr(limits, "TRANSLATION_BATCH", 1)
    with FakeModelServer(answer=english) as server:
        text = run(server, "--max-calls", "3")
        partial = json.loads(Path("out/translation.json").read_text())
        whole = json.loads(run(server, "--queries", "--json"))
        assert len(server.bodies) == 6

    assert text.startswith("PARTIAL: the maximum of 3 calls is reached")
    assert partial["passages"]["not_reached"] == 1
    assert (whole["partial"], whole["passages"]["translated"]) == ("", 3)
    assert whole["queries"]["translated"] == 1


def test_an_unknown_language_is_an_error() -> None:
    """The error comes before any call."""
    with FakeModelServer() as server, pytest.raises(ConfigError, match="unknown language 'xx'"):
        run(server, "--to", "xx")
