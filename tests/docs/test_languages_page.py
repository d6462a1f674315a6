"""The page on languages: its example runs, and each of its commands shows what the page says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from tests.fakes.parallel_set import FERRIES, PASSAGE, QUESTION

from ragstone.cli import root
from ragstone.testing import FakeModelServer

PAGE: Final = (Path(__file__).resolve().parents[2] / "docs" / "languages.md").read_text("utf-8")
EXAMPLE: Final = PAGE[PAGE.index("## An example") : PAGE.index("## Where to go on")]
_FILE = re.search(r"^```yaml\n(.*?)^```", EXAMPLE, re.DOTALL | re.MULTILINE)
FILE: Final = _FILE[1] if _FILE else ""
PLAN, RUN, *COMMANDS = re.findall(r"^ragstone (.*)$", EXAMPLE, re.MULTILINE)
ADDRESS: Final = "http://localhost:8000/v1"
SHOWN: Final = {
    "leaderboard": ["bm25 | en", "bm25 | user+en", "de", "ru"],
    "leaderboard datastore,prompt": ["user | instruction.{language}", "ru"],
    "show --by": ["language", "de", "ru"],
    "show --languages": [
        "Languages of the first 10 passages",
        "Bias for the query's language",
        "The same query across languages",
    ],
    "judge compare": ["equivalence(prompt=equivalence.{language})", "ru"],
    "judge correlate": ["char3-recall", "language-match", "ru"],
    "report": ["report"],
}
"""Command -> what its output has."""


def squad(language: str) -> dict[str, Any]:
    """Return the ferries in a language as a file of SQuAD's form, an article each."""
    articles = []
    for name, year in FERRIES.items():
        text = PASSAGE[language].format(name=name, year=year)
        answers = [{"text": year, "answer_start": text.index(year)}]
        question = {"id": name, "question": QUESTION[language].format(name=name)}
        paragraph = {"context": text, "qas": [{**question, "answers": answers}]}
        articles.append({"title": name, "paragraphs": [paragraph]})
    return {"data": articles}


def reply(messages: Any, *_: Any) -> str:
    """Return an answer in the language of the query, with the year of a passage."""
    text = messages[-1]["content"]
    year = next((year for year in FERRIES.values() if year in text), "1700")
    language = next(code for code, one in QUESTION.items() if one[:7] in text)
    return PASSAGE[language].format(name="?", year=year)


def verdict(messages: Any, *_: Any) -> str:
    """Return the verdict of a judge that rejects what is about one ferry."""
    return "no" if FERRIES["Alba"] in messages[-1]["content"] else "yes"


@pytest.fixture
def outputs(tmp_path: Path) -> Iterator[list[str]]:
    """Return the outputs of the page's commands, where its experiment and the sets are."""
    (tmp_path / "xquad").mkdir()
    for language in PASSAGE:
        found = json.dumps(squad(language), ensure_ascii=False)
        (tmp_path / "xquad" / f"xquad.{language}.json").write_text(found, encoding="utf-8")
    with (
        FakeModelServer(reply) as model,
        FakeModelServer(verdict) as judge,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(tmp_path)
        text = FILE.replace(ADDRESS, model.url, 1).replace(ADDRESS, judge.url, 1)
        (tmp_path / "languages.yaml").write_text(text, encoding="utf-8")
        assert "queries in German 4, English 4, Russian 4 (stated)" in shown(PLAN)
        shown(RUN)
        yield [shown(command) for command in COMMANDS]


def shown(command: str) -> str:
    """Return the output of a command, which must succeed."""
    result = CliRunner().invoke(root, shlex.split(command))
    assert result.exit_code == 0, result.output
    return result.output


def test_each_command_shows_what_the_page_says(outputs: list[str]) -> None:
    """Tables by language, datastore and prompt; judges by language; the report."""
    for output, (command, parts) in zip(outputs, SHOWN.items(), strict=True):
        assert [part for part in parts if part not in output] == [], command
