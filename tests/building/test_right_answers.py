"""Whether a reader answers rightly."""

from __future__ import annotations

from pathlib import Path

from ragstone.building.right_answers import reading_task, right_answers
from ragstone.calls.client import Calls
from ragstone.core.registry import create
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer
from ragstone.types import Passage, Query

QUERY = Query("q", "Which river?", ("Tagus",))


def test_right_wrong_and_failed_answers_differ(tmp_path: Path) -> None:
    """An answer with the gold answer is right; a call that fails is neither right nor wrong."""
    tasks = [reading_task(QUERY, Passage("a", "On the Tagus.")), reading_task(QUERY)]
    with (
        FakeModelServer(answer=lambda m: "the Tagus" if "On" in m[-1]["content"] else "no") as up,
        Calls.at(tmp_path / "calls.sqlite") as calls,
    ):
        reader = create("generators", {"name": "chat", "base_url": up.url, "model": "m"}, where="t")
        assert right_answers(tasks, reader, Services(calls=calls)) == [True, False]
    with (
        FakeModelServer(faults={"400": 1.0}) as down,
        Calls.at(tmp_path / "other.sqlite") as calls,
    ):
        spec = {"name": "chat", "base_url": down.url, "model": "m"}
        reader = create("generators", spec, where="t")
        assert right_answers(tasks, reader, Services(calls=calls)) == [None, None]
