"""Numbers of a running project: in a thread, again only for new events, and never too often."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from tests.fakes.labelled_project import made_site

from ragstone.annotation import live_numbers as module
from ragstone.annotation.live_numbers import LiveNumbers, ProjectNumbers, live_numbers
from ragstone.annotation.site import Site
from ragstone.web import limits


def test_they_are_made_again_only_for_new_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same object without new events; the last one while the thread rests."""
    monkeypatch.setattr(limits, "NUMBERS_SECONDS", 0.0)
    monkeypatch.setattr(module, "_REST", 0)
    with made_site(tmp_path / "p", 2) as (site, give):
        give("ann", "q0", "yes")
        first = live_numbers(site, 60)
        assert first is not None
        assert first.progress.labels == 1
        assert live_numbers(site, 60) is first
        give("ann", "q1", "yes")
        second = live_numbers(site, 60)
        assert second is not None
        assert (second.events, second.progress.labels) == (2, 2)
        monkeypatch.setattr(limits, "NUMBERS_SECONDS", 3600.0)
        give("ben", "q1", "no")
        third = live_numbers(site, 60)
        give("ben", "q0", "no")
        assert live_numbers(site, 60) is third


def test_nobody_waits_longer_than_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without numbers there is None; one thread works however many ask."""
    go, started, made = threading.Event(), [], module.project_numbers

    def slow(site: Site) -> ProjectNumbers:
        started.append(1)
        go.wait(60)
        return made(site)

    monkeypatch.setattr(module, "project_numbers", slow)
    with made_site(tmp_path / "p", 2) as (site, give):
        give("ann", "q0", "yes")
        live = LiveNumbers()
        assert [live.of(site, 0) for _ in range(5)] == [None] * 5
        waits = threading.Thread(target=live.of, args=(site, 60), daemon=True)
        waits.start()
        while not live._waits.locked():
            pass
        # Four open pages would take all threads of the server from people who label.
        assert live.of(site, 60) is None
        go.set()
        waits.join()
        found = live.of(site, 60)
        assert found is not None
        assert found.progress.done == 1
        assert len(started) == 1


def test_a_failure_is_raised_and_the_next_request_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has the reason."""
    monkeypatch.setattr(limits, "NUMBERS_SECONDS", 0.0)
    monkeypatch.setattr(module, "_REST", 0)
    made = module.project_numbers

    def broken(_site: Site) -> ProjectNumbers:
        raise ValueError("no numbers")

    with made_site(tmp_path / "p", 2) as (site, _):
        live = LiveNumbers()
        monkeypatch.setattr(module, "project_numbers", broken)
        with caplog.at_level(logging.ERROR), pytest.raises(ValueError, match="no numbers"):
            live.of(site, 60)
        assert "could not be made" in caplog.text
        monkeypatch.setattr(module, "project_numbers", made)
        assert live.of(site, 60) is not None
