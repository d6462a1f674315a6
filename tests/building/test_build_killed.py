"""A build that is killed again and again asks nothing twice and has the same result."""

from __future__ import annotations

from pathlib import Path

from benchmarks.kill_build import CONCURRENCY, kill_builds, made


def test_killed_builds_have_the_same_result(tmp_path: Path) -> None:
    """Five kills, of which those in flight alone are asked again; every file is the same."""
    found = kill_builds(made(40), 5, tmp_path)
    assert found.kills == 5
    assert found.finished
    assert found.different == []
    assert (found.repeated, found.other_prompts) == (0, 0)
    assert found.most_in_flight <= CONCURRENCY
    assert found.asked_twice <= 5 * found.most_unkept
    assert found.holds
