"""The agent of `ragstone annotate`: checked before the address, and killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from tests.fakes.conversation_project import conversation_project, open_site

from ragstone.annotation.project import Project
from ragstone.cli.annotate_agent import ChosenAgent
from ragstone.cli.build_options import Spending
from ragstone.errors import CallError, ConfigError
from ragstone.types import Message, Query

EXPERIMENT = """
data: {folder}/boats
systems:
  chat: {{retriever: bm25, generator: "chat(base_url=http://127.0.0.1:9/v1, model=m)"}}
  key:
    retriever: bm25
    generator: "chat(model=m, api_key_env=NO_SUCH_KEY, base_url=https://models.invalid/v1)"
settings: [retrieved(2)]
metrics: [Match]
"""
UNLIMITED = Spending(None, None, None)


def project_with(folder: Path, **changes: str) -> Path:
    """Return a project whose file has other values."""
    made = conversation_project(folder)
    lines = (made / "project.yaml").read_text().splitlines()
    kept = [line for line in lines if line.partition(":")[0] not in changes]
    kept += [f"{name}: {value}" for name, value in changes.items() if value]
    (made / "project.yaml").write_text("\n".join(kept) + "\n")
    return made


def test_an_own_system_answers_and_bm25_searches(tmp_path: Path) -> None:
    """Titles are those of the corpus."""
    with open_site(conversation_project(tmp_path / "p")) as site:
        assert site.agent is not None
        agent = site.agent.agent
        turn = agent.reply(Query("q", "cabins for four?", history=(Message("user", "Hello"),)))
        assert [one.title for one in turn.passages] == ["Night boat", "Pets"]
        assert agent.search("bicycle").passages[0].passage_id == "bicycles#1"
        assert (agent.name, agent.searches) == ("my_rag.py:answer", True)
    assert (tmp_path / "p" / "store").is_dir()


def test_an_agent_without_a_corpus_has_no_search(tmp_path: Path) -> None:
    """It answers all the same, from passages of its own."""
    with open_site(project_with(tmp_path / "p", corpus="")) as site:
        assert site.agent is not None
        assert not site.agent.agent.searches
        turn = site.agent.agent.reply(Query("q", "cabins for four?"))
        assert turn.passages[0].text.startswith("Cabins for four")


def test_a_system_of_an_experiment_is_named_in_the_project(tmp_path: Path) -> None:
    """Its retriever searches; the experiment has the data."""
    folder = project_with(tmp_path / "p", agent="e.yaml:gold", corpus="")
    experiment = f"data: {folder / 'boats'}\nsystems:\n  gold: {{retriever: bm25, generator: "
    experiment += f"'callable(function={folder / 'my_rag.py'}:answer)'}}\n"
    (folder / "e.yaml").write_text(f"{experiment}settings: [none]\nmetrics: [Match]\n")
    with open_site(folder) as site:
        assert site.agent is not None
        assert site.agent.agent.search("dog").passages[0].passage_id == "pets#2"
        assert site.agent.agent.reply(Query("q", "a dog?")).answer


def test_without_an_agent_there_is_none(tmp_path: Path) -> None:
    """The page says so."""
    with open_site(project_with(tmp_path / "p", agent="")) as site:
        assert site.agent is None


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("nothing.py:answer", "nothing"),
        ("my_rag.py:other", "other"),
        ("e.yaml:x", "chat, key"),
        ("http://127.0.0.1:9/ask", "127.0.0.1:9"),
        ("e.yaml:chat", "127.0.0.1:9"),
        ("e.yaml:key", "NO_SUCH_KEY"),
        ("gold", "gold"),
    ],
)
def test_an_agent_that_cannot_work_is_an_error(tmp_path: Path, agent: str, said: str) -> None:
    """A missing file, function, system, server or key is named."""
    folder = project_with(tmp_path / "p", agent=agent)
    (folder / "e.yaml").write_text(EXPERIMENT.format(folder=folder))
    with pytest.raises((ConfigError, CallError)) as found, open_site(folder):
        pass
    assert said in str(found.value)


class Visitor:
    """A browser of one person: it opens the printed address and posts."""

    def __init__(self, address: str) -> None:
        self.base = "{0.scheme}://{0.netloc}".format(urlsplit(address))
        self.opener = build_opener(HTTPCookieProcessor(CookieJar()))
        self.opener.open(address).read()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the answer to a post."""
        headers = {"Content-Type": "application/json"}
        request = Request(self.base + path, json.dumps(body).encode(), headers)  # noqa: S310
        return json.loads(self.opener.open(request).read())

    def page(self) -> Any:
        """Return the data of the page."""
        return json.loads(self.opener.open(f"{self.base}/conversation.json?item=c1").read())


@contextmanager
def process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Visitor]]:
    """Run the command on a free port."""
    main = "from ragstone.cli import main; main()"
    command = [sys.executable, "-c", main, "annotate", str(folder), "--port", "0"]
    running = subprocess.Popen(
        [*command, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert running.stdout is not None
    try:
        yield running, Visitor(running.stdout.readline().strip())
    finally:
        running.kill()
        running.wait()
        running.stdout.close()


def wait_for(path: Path) -> None:
    """Wait until a file exists."""
    while not path.exists():
        time.sleep(0.02)


def test_a_server_that_is_killed_in_a_turn_keeps_the_query(tmp_path: Path) -> None:
    """After the start the turn has no answer; the same ask is answered then."""
    folder = conversation_project(tmp_path / "p")
    (folder / "hangs").touch()
    body = {"client_id": "a1", "item_id": "c1", "turn": 1, "text": "Cabins?", "kind": "query"}
    with process(folder) as (running, visitor):
        assert visitor.post("/ask", body)["state"] == "running"
        wait_for(folder / "asked.txt")
        assert visitor.page()["now"]["running"]
        os.kill(running.pid, signal.SIGKILL)
    (folder / "hangs").unlink()
    with process(folder) as (_, visitor):
        now = visitor.page()["now"]
        assert (now["query"], now["answer"], now["running"], now["reason"]) == (
            "Cabins?",
            None,
            False,
            "",
        )
        visitor.post("/ask", {**body, "again": True})
        while visitor.post("/ask", body)["state"] == "running":
            time.sleep(0.05)
        assert visitor.page()["now"]["answer"]


def test_a_server_ends_while_the_agent_hangs(tmp_path: Path) -> None:
    """Nothing waits for the call; the query is kept."""
    folder = conversation_project(tmp_path / "p")
    (folder / "hangs").touch()
    body = {"client_id": "a1", "item_id": "c1", "turn": 1, "text": "Cabins?", "kind": "query"}
    with process(folder) as (running, visitor):
        visitor.post("/ask", body)
        wait_for(folder / "asked.txt")
        running.terminate()
        assert running.wait(60) == 130  # as every command that a signal ends


def test_options_count_more_than_the_file(tmp_path: Path) -> None:
    """Another agent can be named for one start."""
    folder = conversation_project(tmp_path / "p")
    other = tmp_path / "other.py"
    other.write_text("def answer(query):\n    return 'At noon.'\n")
    chosen = ChosenAgent(f"{other}:answer", str(folder / "boats"), UNLIMITED)
    with chosen.ready(Project.open(folder)) as asked:
        assert asked is not None
        assert asked.agent.reply(Query("q", "When?")).answer == "At noon."
