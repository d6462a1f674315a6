"""Hostile text reaches a terminal as text alone, and the campaign has every command and page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.hostile.commands import leaves
from benchmarks.hostile.pages import ANNOTATE, FILES, VIEW, page_routes
from benchmarks.hostile.rows import ROWS
from benchmarks.hostile.texts import TERMINAL, controls_in, json_problem

from ragstone.core.screen_text import plain

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "hostile_text.py"


def test_every_command_has_a_row() -> None:
    """A new command fails here until the campaign runs it."""
    assert set(leaves()) == set(ROWS)


def test_every_page_has_an_address() -> None:
    """A new page of `view` or `annotate`, or a new template of a file, fails here."""
    assert page_routes() == (set(VIEW), set(ANNOTATE))
    folder = Path(sys.modules["ragstone"].__file__ or "").parent / "results" / "templates"
    pages = {one.name for one in folder.glob("*.html") if not one.name.startswith("_")}
    # `tables.html` is the page of ratings, effects and sensitivity.
    assert pages - {"tables.html"} <= set(FILES)


@pytest.mark.parametrize("name", TERMINAL)
def test_a_raw_control_is_found(name: str) -> None:
    """Else the campaign would prove nothing; codes of it are no find."""
    for terminal in (True, False):
        assert controls_in(f"a {TERMINAL[name]} b", terminal=terminal)
        assert not controls_in(f"a {plain(TERMINAL[name])} b", terminal=terminal)
    assert json_problem('{"a": "\x1b"}')
    assert not json_problem('{"a": 1}\n{"a": 2}')


def test_commands_print_no_control(tmp_path: Path) -> None:
    """Of a small data set: on a terminal, in a pipe, and both with --json."""
    arguments = ["--part", "commands", "--queries", "8", "--keep", str(tmp_path)]
    only = "data show,data check,score,calls show,prompts,try,annotate scheme"
    command = [sys.executable, str(SCRIPT), *arguments, "--only", only]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("7 commands, ")
