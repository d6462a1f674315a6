"""Progress: shown in notebooks and interactive sessions, silent in scripts and log files."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.core import limits
from ragstone.core.progress import LiveBar, SilentBar, progress, shown_by, track


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Show bars without the delay, as if a step were long."""
    monkeypatch.setattr(limits, "PROGRESS_DELAY_SECONDS", 0.0)
    return monkeypatch


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, *, yes: bool) -> None:
    """Make standard error a terminal or a file."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: yes)


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what three counted items leave on standard error."""
    assert list(track("abc", "Counting", 3)) == ["a", "b", "c"]
    return capsys.readouterr().err


def test_a_script_is_silent(
    at_once: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal too; `shown_by` shows bars in a script."""
    on_a_terminal(at_once, yes=True)
    assert shown(capsys) == ""
    with progress("Counting", 3) as bar:
        assert isinstance(bar, SilentBar)

    with shown_by(LiveBar):
        assert "Counting: 100%" in shown(capsys)


def test_an_interactive_session_shows_bars_on_a_terminal(
    at_once: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python sets `sys.ps1` in interactive sessions; output to a file stays clean."""
    at_once.setattr(sys, "ps1", ">>> ", raising=False)
    on_a_terminal(at_once, yes=True)
    assert "Counting: 100%" in shown(capsys)

    on_a_terminal(at_once, yes=False)
    assert shown(capsys) == ""


@pytest.mark.parametrize(("config", "bars"), [({"IPKernelApp": {}}, True), ({}, False)])
def test_a_notebook_shows_bars_without_a_terminal(
    config: dict[str, Any],
    bars: bool,
    at_once: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A Jupyter kernel is known by its configuration, which plain IPython does not have."""
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(config=config))
    at_once.setitem(sys.modules, "IPython", ipython)
    on_a_terminal(at_once, yes=False)

    assert ("Counting" in shown(capsys)) == bars


def test_a_short_step_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A step that ends before the delay leaves no trace."""
    on_a_terminal(monkeypatch, yes=True)
    with shown_by(LiveBar):
        assert shown(capsys) == ""
