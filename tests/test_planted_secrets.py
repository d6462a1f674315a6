"""The campaign of planted secrets finds none, and finds them if nothing is removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from benchmarks import planted_secrets
from benchmarks.planted_secrets import PLACES, campaign, nothing_removed


@pytest.fixture(autouse=True)
def _variables() -> Iterator[None]:
    """Take the variables of a campaign back: other tests would read them."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.filterwarnings("ignore")  # those of MLflow's own use of SQLAlchemy
def test_no_planted_secret_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kind, in all places: the run, the files of trackers, the run with other secrets."""
    commands = planted_secrets.COMMANDS
    tracked = tuple(one for one in commands if "--track" in one and find_spec(one[-1]))
    monkeypatch.setattr(planted_secrets, "COMMANDS", commands[:1] + tracked)
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
