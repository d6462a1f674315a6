"""Eight people post while the server, or PostgreSQL itself, is killed: none lost, none double."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.annotate_kills import Outcome, killed_round

EVENTS, KILLS = 400, 5


def holds(found: Outcome) -> None:
    """Assert that nothing is lost, double or out of order, and that the kills were felt."""
    assert (found.events, found.kills) == (EVENTS, KILLS)
    assert found.posted_twice > 0
    assert found.failed_requests > 0
    assert (found.lost, found.double, found.faults) == (0, 0, [])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_server_loses_no_event(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The process that serves the pages is killed with SIGKILL and started again."""
    server = request.getfixturevalue("postgres") if kind == "postgresql" else None
    holds(killed_round(tmp_path / f"killed_{kind}", EVENTS, KILLS, server))


def test_a_killed_postgresql_loses_no_event(tmp_path: Path, postgres: Any) -> None:
    """The postmaster is killed with SIGKILL; the server of the pages goes on and reconnects."""
    holds(killed_round(tmp_path / "killed_postmaster", EVENTS, KILLS, postgres, database=True))
