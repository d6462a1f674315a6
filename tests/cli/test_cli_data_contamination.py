"""`ragstone data contamination` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ragstone.cli.data import command
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError, DatasetError
from ragstone.testing import FakeModelServer


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a data set with dates and non-ASCII names, in the current folder."""
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "größe"
    target.mkdir()
    rows = [
        {
            "_id": f"frage-ä{n}",
            "text": f"Which of the rivers of this country has the number {n}?",
            "answers": [f"River{n}x"],
            "date": f"20{n + 10}-06-01",
        }
        for n in range(12)
    ]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (target / "queries.jsonl").write_text(lines, encoding="utf-8")
    return target


def run(*arguments: object) -> Result:
    """Run the command; an error is raised."""
    result = CliRunner().invoke(command, ["contamination", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def _answer(messages: Any) -> str:
    number = messages[-1]["content"].partition("number ")[2].partition("?")[0]
    return f"It is River{number}x" if int(number) < 6 else "I do not know"


def test_models_dates_and_text_together(folder: Path) -> None:
    """Every measure is in the text, the JSON and the lines per query; a rerun makes no call."""
    (folder.parent / "crawl").mkdir()
    (folder.parent / "crawl" / "seite-ü.txt").write_text(
        "Which of the rivers of this country has the number 3? River3x", encoding="utf-8"
    )
    with FakeModelServer(answer=_answer) as server:
        spec = f"chat(model=m, base_url='{server.url}')"
        arguments = [folder, "--model", spec, "--cutoff", "m=2015-12-31", "--corpus-text", "crawl"]
        plan = run(*arguments, "--plan")
        assert "at most 12 calls" in plan.output
        assert not server.asked
        text = run(*arguments, "-o", "rows.jsonl").output
        made = len(server.asked)
        document = json.loads(run(*arguments, "--json").output)
        assert len(server.asked) == made == 12
    assert "0.500" in text
    assert "seite-ü.txt:1" in text
    (share,) = document["right_without_context"]["models"].values()
    assert (share["mean"], share["n"], share["failed"]) == (0.5, 12, 0)
    (side,) = document["dates"]["sides"].values()
    assert (side["older"], side["newer"], side["difference"]) == (6, 6, -1.0)
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text("utf-8").splitlines()]
    assert rows == document["per_query"]
    assert rows[3]["overlap"]["with_answer"] is True
    assert rows[3]["query_id"] == "frage-ä3"


def test_newer_queries_are_kept(folder: Path) -> None:
    """The copy has the queries after the date, and is not overwritten."""
    result = run(folder, "--after", "2018", "--keep", "neu")
    assert "4 of 12 queries are in neu" in result.output
    assert len(load_dataset(folder.parent / "neu").queries) == 4
    with pytest.raises(DatasetError, match="already exists"):
        run(folder, "--after", "2018", "--keep", "neu")
    with pytest.raises(ConfigError, match="no query is newer"):
        run(folder, "--after", "2030", "--keep", "none")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to measure"),
        (["--keep", "x"], "--keep needs a date"),
        (["--cutoff", "2024"], "not of the form MODEL=DATE"),
    ],
)
def test_wrong_usage(folder: Path, arguments: list[str], said: str) -> None:
    """The message has the way out."""
    result = run(folder, *arguments)
    assert result.exit_code == 2
    assert said in result.output


def test_wrong_names_and_dates(folder: Path) -> None:
    """Each is named before a call is made."""
    with pytest.raises(ConfigError, match="'soon' is not a date"):
        run(folder, "--after", "soon")
    with pytest.raises(ConfigError, match="no --model is called 'n'"):
        run(folder, "--model", "chat(model=m)", "--cutoff", "n=2024")
    with pytest.raises(DatasetError, match="Name another label with --date-label"):
        run("sample", "--after", "2024")
