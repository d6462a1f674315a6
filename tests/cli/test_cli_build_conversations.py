"""`ragstone build conversations`."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.fakes.scripted_talk import ScriptedTalk, rivers_corpus

from ragstone.cli.build import command
from ragstone.data.load import load_dataset
from ragstone.data.writers.folder import write_dataset
from ragstone.testing import FakeModelServer


def ragstone(*arguments: object) -> Result:
    """Run `ragstone build conversations` with some arguments."""
    return CliRunner().invoke(command, ["conversations", *map(str, arguments)])


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return the folder of a data set with twelve passages."""
    write_dataset(rivers_corpus(), tmp_path / "rivers")
    return tmp_path / "rivers"


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield a server of a scripted model."""
    with FakeModelServer(answer=ScriptedTalk()) as made:
        yield made


def model(server: FakeModelServer) -> str:
    """Return the spec of the scripted model."""
    return f"chat(base_url={server.url}, model=fake)"


def test_conversations_are_built_again_without_a_call(
    tmp_path: Path, corpus: Path, server: FakeModelServer
) -> None:
    """The JSON has the promised shape; a repetition asks nothing; the set can be loaded."""
    made = tmp_path / "made"
    given: list[object] = [made, "--corpus", corpus, "--model", model(server), "--count", 3]
    given += ["--turns", "2-3", "--mix", "follow-up=1,clarification=1"]
    given += ["--question-types", "--json"]
    first = ragstone(*given)
    assert first.exit_code == 0, first.output
    asked = sum(server.asked.values())
    again = ragstone(*given, "--chart", tmp_path / "funnel.svg")
    assert sum(server.asked.values()) == asked
    document = json.loads(first.stdout)
    assert json.loads(again.stdout) == document
    assert document["stages"][-1] == {"stage": "conversation", "in": 3, "out": 3, "rejected": {}}
    assert document["dataset"] == str(made)
    assert document["recipe"]["turns"] == [2, 3]
    assert document["recipe"]["corpus"]["given"] == str(corpus)
    data = load_dataset(str(made))
    assert len(data.conversations) == 3
    assert "support" in data.source.machine_qrels
    assert (tmp_path / "funnel.svg").stat().st_size


def test_a_live_system_is_measured(tmp_path: Path, corpus: Path, server: FakeModelServer) -> None:
    """The table has n, failures and intervals, and the warning about simulated users."""
    system = tmp_path / "mine.py"
    system.write_text("def answer(query):\n    return 'It is so.'\n")
    given = ("--live", f"{system}:answer", "--corpus", corpus, "--model", model(server))
    found = ragstone(tmp_path / "live", *given, "--count", 3)
    assert found.exit_code == 0, found.output
    assert "goal reached" in found.output
    assert "too friendly" in found.output
    asked = sum(server.asked.values())
    document = json.loads(ragstone(tmp_path / "live", *given, "--count", 3, "--json").stdout)
    assert sum(server.asked.values()) == asked
    assert {"mean", "n", "failed", "interval"} <= document["metrics"]["goal reached"].keys()
    assert load_dataset(str(tmp_path / "live")).conversations


def test_the_plan_makes_no_call(tmp_path: Path, corpus: Path, server: FakeModelServer) -> None:
    """`--plan` prints the largest number of calls: 2 x 2 turns of 3 + 6 calls, and 2."""
    given = (tmp_path / "made", "--corpus", corpus, "--model", model(server), "--count", 2)
    found = ragstone(*given, "--turns", "2", "--plan", "--json")
    assert json.loads(found.stdout) == {"calls": 38}
    system = tmp_path / "mine.py"
    system.write_text("def answer(query):\n    return 'It is so.'\n")
    live = ragstone(*given, "--live", f"{system}:answer", "--plan", "--json")
    assert json.loads(live.stdout) == {"calls": 3 * (5 + 3) + 2}
    assert not server.asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--turns", "12"), "from 2 to 8"),
        (("--turns", "many"), "neither a number nor a range"),
        (("--mix", "chatter=1"), "unknown kind of turn"),
        (("--persona", "p.yaml"), "add --live SYSTEM"),
        (("--live", "x.py:answer", "--turns", "3"), "--turns is for conversations without --live"),
    ],
)
def test_bad_options_are_refused(
    tmp_path: Path, corpus: Path, server: FakeModelServer, options: tuple[str, ...], message: str
) -> None:
    """The message names the way out, and nothing is asked."""
    found = ragstone(tmp_path / "made", "--corpus", corpus, "--model", model(server), *options)
    assert found.exit_code
    assert message in f"{found.output} {found.exception}"
    assert not server.asked


def test_a_corpus_is_needed(tmp_path: Path, server: FakeModelServer) -> None:
    """Only the system of an experiment brings its own."""
    found = ragstone(tmp_path / "made", "--model", model(server))
    assert "name the passages with --corpus" in found.output


def test_a_killed_build_resumes_without_repeated_calls(tmp_path: Path, corpus: Path) -> None:
    """After a kill, only the calls that were on their way are made again."""
    made = tmp_path / "made"
    with FakeModelServer(answer=ScriptedTalk(), delay=0.02) as server:
        given = ["conversations", made, "--corpus", corpus, "--model", model(server), "--count", 6]
        code = "import sys; from ragstone.cli.build import command; command(sys.argv[1:])"
        process = subprocess.Popen([sys.executable, "-c", code, *map(str, given)])
        while sum(server.answered.values()) < 30 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.wait()
        with contextlib.closing(sqlite3.connect(made / "calls.sqlite")) as log:
            (kept,) = log.execute("SELECT count(*) FROM calls").fetchone()
        on_their_way = sum(server.asked.values()) - kept
        found = ragstone(*given[1:], "--json")
        assert found.exit_code == 0, found.output
        assert 0 < kept < len(server.asked)
        assert sum(server.asked.values()) - len(server.asked) <= on_their_way
    assert json.loads(found.stdout)["stages"][-1]["out"] == 6


def test_a_spent_budget_is_partial(tmp_path: Path, corpus: Path, server: FakeModelServer) -> None:
    """With no finished conversation there is no data set, and the steps say why."""
    given = (tmp_path / "made", "--corpus", corpus, "--model", model(server), "--count", 4)
    document = json.loads(ragstone(*given, "--max-calls", 9, "--json").stdout)
    assert "maximum of 9 calls" in document["partial"]
    assert document["stages"][-1]["rejected"] == {"not reached": 4}
    assert json.loads(ragstone(*given, "--json").stdout)["partial"] == ""
    assert set(server.asked.values()) == {1}
