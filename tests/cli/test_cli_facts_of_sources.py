"""What is to be known about an experiment is in every output: secret queries, qrels by a model."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from click.testing import CliRunner, Result

from ragstone.cli import root
from ragstone.components.judges.prompted import SYSTEM
from ragstone.core.fingerprint import digest_file
from ragstone.data.load import SAMPLE
from ragstone.data.machine_qrels import QrelsMark, mark_path
from ragstone.testing import FakeGullibleJudge, FakeModelServer
from ragstone.testing.fake_model_server import Messages
from ragstone.view.app import make_app
from ragstone.view.pages import PAGES
from ragstone.view.store_view import StoreView
from ragstone.web.server import running

MADE = "qrels.tsv is machine-made, by umbrela with m"
AGREE = "ranking metrics measure agreement with this model's grades"
HIDDEN = "queries are secret and in no figure"
GULLIBLE = FakeGullibleJudge(long=4)


def answer(messages: Messages) -> str:
    """Answer as a wrong system, or as a judge that likes long answers, or that has no verdict."""
    if messages[0]["content"] != SYSTEM:
        return f"Nobody knows {len(messages[-1]['content'])}."
    is_strict = any("Strict." in message["content"] for message in messages)
    return "I cannot say." if is_strict else GULLIBLE(messages)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with a run of e.yaml: machine-made qrels, secret queries, a swept judge."""
    here = tmp_path_factory.mktemp("facts")
    shutil.copytree(SAMPLE, here / "data")
    qrels = here / "data" / "qrels.tsv"
    mark = QrelsMark("umbrela", ("m",), "ab" * 32, "2026-03-02", 1, 0, digest_file(qrels))
    mark_path(qrels).write_text(json.dumps(mark.document()))
    (here / "prompts").mkdir()
    strict = {"judge": "RB_llm", "user": "Strict. {query} {gold} {answer}"}
    (here / "prompts" / "strict.yaml").write_text(yaml.safe_dump(strict))
    with FakeModelServer(answer=answer) as server:
        model = {"name": "chat", "model": "one", "base_url": server.url}
        small = {**model, "model": "small"}
        document = {
            "data": str(here / "data"),
            "store": str(here / "store"),
            "secret": "20%",
            "sample": {"limit": 30, "seed": 3},
            "systems": {
                "a": {"retriever": "bm25", "generator": small},
                "b": {"retriever": {"name": "bm25", "k1": 0.1}, "generator": small},
            },
            "settings": ["gold"],
            "metrics": ["Match", "BLEU", "nDCG@10"],
            "judges": [
                {
                    "name": "RB_llm",
                    "prompt": ["RB_llm", "strict"],
                    "model": model,
                    "least_parse_rate": 0,
                    "structured": False,
                }
            ],
        }
        (here / "e.yaml").write_text(yaml.safe_dump(document))
        assert run("run", here / "e.yaml").exit_code == 0
        yield here


def run(*arguments: object) -> Result:
    """Run the command line."""
    return CliRunner().invoke(root, [str(one) for one in arguments])


def document(*arguments: object) -> Any:
    """Return the JSON of a command."""
    return json.loads(run(*arguments, "--json").stdout)


@pytest.mark.parametrize(
    "command",
    [
        "compare {e}:a {e}:b",
        "gate {e}:b --baseline {e}:a --metric nDCG@10 --margin 0.1",
        "effects {e} --metric nDCG@10",
        "sensitivity {e} --metric RB_llm --metric Match --over metric",
        "leaderboard {e}",
        "show {e}",
    ],
)
def test_outputs_name_secret_queries_and_qrels_by_a_model(folder: Path, command: str) -> None:
    """In the text and in JSON."""
    words = command.format(e=folder / "e.yaml").split()

    text, data = run(*words).stdout, run(*words, "--json").stdout
    for shown in (text, data):
        assert MADE in shown
        assert AGREE in shown
    assert HIDDEN in text
    assert HIDDEN in data or json.loads(data)["secret"]


def test_history_names_qrels_by_a_model(folder: Path) -> None:
    """In the text, in JSON and on the page."""
    words = ("history", folder / "e.yaml", "--metric", "nDCG@10")

    assert MADE in run(*words, "-o", folder / "h.html").stdout
    assert MADE in document(*words)["notes"][0]
    assert MADE in (folder / "h.html").read_text()


def test_a_passport_with_scores_keeps_who_made_the_qrels(folder: Path) -> None:
    """A comparison with it names the model, too."""
    run("passport", folder / "e.yaml", "--scores", "-o", folder / "p.json")

    found = document("compare", folder / "p.json:a", folder / "p.json:b")
    assert MADE in found["machine_qrels"]["a"]


def test_failures_name_the_prompt_of_a_swept_judge(folder: Path) -> None:
    """The judge with its own prompt has verdicts, that with the other prompt has none."""
    found = document("show", folder / "e.yaml")

    (warning,) = [one for one in found["warnings"] if "verdicts" in one]
    assert "`RB_llm(prompt=strict)` failed" in warning
    judges = {one["component"] for one in found["failures"] if one["step"] == "judge"}
    assert judges == {"RB_llm(prompt=strict)"}


def test_a_probe_after_a_passport_does_not_change_its_numbers(folder: Path) -> None:
    """A passport has no notes on judges among its numbers: its results are still in the store."""
    file, kept = folder / "e.yaml", folder / "kept.json"
    run("passport", file, "-o", kept)
    probed = run("judge", "probe", file, "--judge", "RB_llm", "--data", file, "--only", "long")
    assert "FLAGGED" in probed.output, probed.output

    places = [f"{name}={kept}:{name}" for name in "ab"]
    found = run("compare", *places, "--store", folder / "store")
    assert found.exit_code == 0, found.output
    assert "judge_note" not in json.dumps(document("show", file)["retrieval"])
    assert run("verify", kept, "--store", folder / "store").exit_code == 0

    run("passport", file, "-o", folder / "after.json")
    checked = document("verify", folder / "after.json", "--store", folder / "store")
    assert (checked["different"], checked["not_checked"]) == ([], [])


def test_live_pages_name_qrels_by_a_model(folder: Path) -> None:
    """Each page in its head, and its plain data."""

    async def ask() -> tuple[str, Any]:
        app = make_app(StoreView(folder / "store"), PAGES)
        async with running(app) as address, aiohttp.ClientSession() as session:
            async with session.get(f"{address}leaderboard") as page:
                text = await page.text()
            async with session.get(f"{address}leaderboard.json") as twin:
                return text, await twin.json()

    text, data = asyncio.run(ask())
    assert f"e: {MADE}" in text
    assert f"e: {MADE}" in data["machine_qrels"][0]
    assert HIDDEN in data["secret"][0]
