"""The campaign of planted secrets finds none, and finds them if nothing is removed."""

from __future__ import annotations

import pytest
from benchmarks import planted_secrets
from benchmarks.planted_secrets import PLACES, campaign, nothing_removed


def test_no_planted_secret_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kind, in all places: the run, a page and the log, then the run with other secrets."""
    monkeypatch.setattr(planted_secrets, "COMMANDS", planted_secrets.COMMANDS[:1])
    monkeypatch.setattr(planted_secrets, "AGAIN", planted_secrets.AGAIN[1:2])
    found = campaign(["password with signs"])
    assert found["codes"] == found["found"] == []
    assert found["with a mark"] > len(PLACES)


def test_the_search_finds_what_is_not_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the campaign would prove nothing."""
    monkeypatch.setattr(planted_secrets, "COMMANDS", planted_secrets.COMMANDS[:1])
    monkeypatch.setattr(planted_secrets, "AGAIN", ())
    with nothing_removed():
        found = campaign(["model key"])["found"]
    assert {one.split(": ")[1].partition(" in ")[0] for one in found} >= {
        "header, env",
        "body, plain",
    }
