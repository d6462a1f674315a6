"""What commands print on a terminal has no controls of the data, in no script a wrong width."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from ragstone.cli import commands, screen
from ragstone.core import limits
from ragstone.core.screen_text import message

HOSTILE = "a\x1b[2J\x1b]0;title\x07b\u202egnp\u202c \x9b31m c\rd \x00 \u2066e"
"""Clears the screen, sets its title, turns text round and writes over the line."""
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066\u2067]")


class Screen(io.StringIO):
    """Standard output or error that is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a data set, an experiment, answers and scores of hostile texts."""
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    text = HOSTILE.replace("\x00", "")
    files: dict[str, list[dict[str, Any]]] = {
        "data/queries.jsonl": [
            {"_id": f"q{n}", "text": f"{text} {n}?", "answers": [text], "labels": {text: text}}
            for n in range(6)
        ],
        "data/corpus.jsonl": [
            {"_id": f"d{n}", "title": text, "text": f"{text} number {n}"} for n in range(6)
        ],
        "answers.jsonl": [
            {"query_id": f"q{n}", "query": text, "gold_answers": [text], "answer": f"{text} {n}"}
            for n in range(6)
        ],
        "scores.jsonl": [{"query_id": f"q{n}", "metric": text, "value": n / 6} for n in range(6)],
    }
    for name, rows in files.items():
        (tmp_path / name).write_text("\n".join(json.dumps(row) for row in rows))
    (data / "qrels.tsv").write_text("".join(f"q{n}\t0\td{n}\t1\n" for n in range(6)))
    (tmp_path / "e.yaml").write_text(
        f"data: data\nsystems: {{{json.dumps(text)}: {{retriever: bm25}}, two: {{retriever: "
        "bm25(k1=0.5)}}\nmetrics: [nDCG@5]\nstore: st"
    )
    return tmp_path


def printed(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Return what a command prints on a terminal."""
    # A live bar would write over its own line.
    shown, errors = Screen(), io.StringIO()
    monkeypatch.setattr(sys, "argv", ["ragstone", *arguments])
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", shown)
        patch.setattr(sys, "stderr", errors)
        with contextlib.suppress(SystemExit):
            commands.run()
    return shown.getvalue() + errors.getvalue()


NAMED = HOSTILE.replace("\x00", "")
"""The text as an argument, which no shell passes with the character 0."""


@pytest.mark.parametrize(
    "commands",
    [
        [("run", "e.yaml"), ("show", "e.yaml"), ("show", "e.yaml", "--query", "q1")],
        [("data", "show", "data"), ("data", "show", "data", "--json"), ("data", "check", "data")],
        [
            ("score", "answers.jsonl", "--explain"),
            ("compare", "one=scores.jsonl", f"{NAMED}=scores.jsonl"),
        ],
        [
            ("run", NAMED),
            ("run", "e.yaml", f"{NAMED}=1"),
            ("score", "answers.jsonl", "--metrics", NAMED),
            (f"--{NAMED}",),
        ],
    ],
)
@pytest.mark.usefixtures("folder")
def test_no_command_prints_controls_of_the_data(
    monkeypatch: pytest.MonkeyPatch, commands: list[tuple[str, ...]]
) -> None:
    """Queries, passages, answers, labels, metrics, names of systems and errors are shown safely."""
    for arguments in commands:
        shown = printed(monkeypatch, *arguments)

        assert "x1b[2J" in shown or "u001b[2J" in shown, arguments
        found = CONTROLS.search(shown.replace("\x1b[1m", "").replace("\x1b[0m", ""))
        assert not found, (arguments, shown)


def test_a_pipe_gets_codes_too(capsys: pytest.CaptureFixture[str]) -> None:
    """What is kept is shown later; JSON has codes of its own, and so the same values."""
    text = "a\u202eb\x07\x9b\x1b[1mc"
    for err in (False, True):
        screen.say(text, err=err)
    screen.say_json(json.dumps(HOSTILE, ensure_ascii=False).encode())
    shown = capsys.readouterr()
    assert not CONTROLS.search(shown.out + shown.err)
    said, document = shown.out.splitlines()
    assert said == shown.err.strip() == "a\\u202eb\\x07\\x9b\\x1b[1mc"
    assert json.loads(document) == HOSTILE


def test_warnings_are_messages(capsys: pytest.CaptureFixture[str]) -> None:
    """A logged text has no controls and a maximum of characters."""
    screen.MessageHandler().emit(
        logging.LogRecord("x", logging.WARNING, "", 1, "of %s", (HOSTILE * 100,), None)
    )
    shown = capsys.readouterr().err
    assert not CONTROLS.search(shown)
    assert shown.startswith("of a")
    assert len(shown) == limits.MAX_MESSAGE_CHARACTERS + 1


def test_a_long_message_keeps_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long words are cut first; then the middle is left out."""
    monkeypatch.setattr(limits, "MAX_MESSAGE_CHARACTERS", 60)
    monkeypatch.setattr(limits, "MAX_WORD_CHARACTERS", 10)
    assert message(f"a.yaml: found {'x' * 500} ; way out") == "a.yaml: found xxxxxxx... ; way out"
    found = message(f"a.yaml: found {'x ' * 5000}; way out")
    assert len(found) == 60
    assert found.startswith("a.yaml: found x x")
    assert found.endswith(" x ; way out")
    assert len(message("\x1b" * 10**6)) <= 60


def test_commands_print_through_one_module() -> None:
    """No other module of the command line calls click's own function, except the terminal page."""
    sources = Path(commands.__file__).parent.glob("*.py")
    users = {p.name for p in sources if re.search(r"click\.s?echo", p.read_text("utf-8"))}
    assert users == {"screen.py", "annotate.py"}
