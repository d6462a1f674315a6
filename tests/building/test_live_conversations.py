"""Simulated users of a live system, with a scripted model and a system that may fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.scripted_talk import ScriptedTalk, rivers_corpus

from ragstone.building.dialogue import DialoguePlan
from ragstone.building.draft import QueryWriter
from ragstone.building.live_conversations import FRIENDLY, LiveBuilder, MadeTalks
from ragstone.building.simulated_user import Persona
from ragstone.calls.client import Calls
from ragstone.calls.prices import Budget, Prices
from ragstone.components.judges.equivalence import Equivalence
from ragstone.components.llm import resolve_llm
from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import DatasetError
from ragstone.experiment.live_system import LiveSystem
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer

SYSTEM = """
from pathlib import Path

def answer(query, history):
    with Path({log!r}).open("a") as file:
        file.write("asked\\n")
    turn = 1 + sum(m.role == "user" for m in history)
    {body}
"""
WEARY = (Persona("weary", "Asks on.", patience=3),)
FAILS = 'if turn == 2: raise ValueError("no second turn")\n    return f"It is turn {turn}."'


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield a server of a scripted model."""
    with FakeModelServer(answer=ScriptedTalk()) as made:
        yield made


def talk(
    server: FakeModelServer,
    folder: Path,
    body: str,
    *,
    seeds: Dataset | None = None,
    real: Dataset | None = None,
    max_calls: int | None = None,
) -> MadeTalks:
    """Return three conversations with a function whose body is given."""
    system = folder / "system.py"
    system.write_text(SYSTEM.format(log=str(folder / "asked.txt"), body=body))
    if not (folder / "rivers").is_dir():
        write_dataset(rivers_corpus(), folder / "rivers")
    model = {"name": "chat", "base_url": server.url, "model": "fake"}
    budget = Budget(None, Prices(), max_calls=max_calls) if max_calls else None
    with Calls.at(folder / "calls.sqlite", budget=budget) as calls:
        live = LiveSystem.load(f"{system}:answer", str(folder / "rivers"))
        writer = QueryWriter(resolve_llm(model), Services(calls=calls))
        judge = Equivalence(model=model, least_parse_rate=0.0)
        builder = LiveBuilder(live, writer, judge, WEARY, live.corpus, DialoguePlan(3))
        return builder.build(seeds, real)


def test_a_system_that_fails_on_turn_2(server: FakeModelServer, tmp_path: Path) -> None:
    """The failure is a value with a reason; the conversation goes on without that answer."""
    made = talk(server, tmp_path, FAILS)
    for one in made.talks:
        assert [turn.status for turn in one.turns] == ["answered", "failed", "answered"]
        assert "no second turn" in one.turns[1].reason
        assert [m.role for m in one.history(3)] == ["user", "agent", "user"]
    metrics = made.metrics
    assert (metrics["turn answered"].n, metrics["turn answered"].failed) == (6, 3)
    assert (metrics["goal reached"].mean, metrics["goal reached"].n) == (0.0, 3)
    assert metrics["goal reached"].interval is not None
    assert sum(made.about["failures"].values()) == 3
    assert made.about["warnings"] == [FRIENDLY]


def test_a_system_that_always_fails_is_not_wrong(server: FakeModelServer, tmp_path: Path) -> None:
    """Whether the goal is reached is unknown: three failures, no mean."""
    found = talk(server, tmp_path, 'raise ValueError("out")').metrics["goal reached"]
    assert (found.mean, found.n, found.failed) == (None, 0, 3)


def test_the_goal_ends_a_conversation(server: FakeModelServer, tmp_path: Path) -> None:
    """A system that answers rightly in its second turn needs two turns."""
    data = rivers_corpus()
    body = 'return "It is any of them." if turn == 2 else "I do not know."'
    made = talk(server, tmp_path, body, seeds=data)
    (one,) = made.talks
    assert [turn.status for turn in one.turns] == ["refused", "answered"]
    assert made.metrics["turns until the goal"].mean == 2
    assert made.metrics["goal reached"].mean == 1
    row = json.loads(made.files["transcripts.jsonl"])
    assert row["goal"] == "What is the depth of Sado?"
    assert row["turns"][1]["reached"] is True
    queries = made.dataset.queries
    assert [q.labels["status"] for q in queries] == ["refused", "answered"]
    assert not any(q.gold_answers for q in queries)


def test_repetitions_are_counted(server: FakeModelServer, tmp_path: Path) -> None:
    """A system with one answer for all repeats itself in each turn after the first."""
    made = talk(server, tmp_path, 'return "It is as it is."')
    assert made.metrics["answer repeated"].mean == pytest.approx(2 / 3)
    assert made.metrics["message repeated"].mean == 0


def test_a_second_run_asks_neither_the_models_nor_the_system(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """Both are kept, the system's replies too."""
    first = talk(server, tmp_path, 'return f"It is turn {turn}."')
    asked, own = sum(server.asked.values()), (tmp_path / "asked.txt").read_text()
    again = talk(server, tmp_path, 'return f"It is turn {turn}."')
    assert again.files == first.files
    assert sum(server.asked.values()) == asked
    assert (tmp_path / "asked.txt").read_text() == own


def test_a_spent_budget_is_partial(
    server: FakeModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finished conversations are kept; the next run asks nothing twice."""
    monkeypatch.setattr(limits, "BUILD_CONVERSATIONS", 1)
    body = 'return f"It is turn {turn}."'
    part = talk(server, tmp_path, body, max_calls=13)
    assert "maximum of 13 calls" in part.funnel.partial
    assert len(part.talks) == 1
    assert len(talk(server, tmp_path, body).talks) == 3
    assert set(server.asked.values()) == {1}


def test_conversations_of_people_are_compared(server: FakeModelServer, tmp_path: Path) -> None:
    """With a real set its shape is beside, and the warning is gone; without turns it is refused."""
    people = Dataset.from_records(
        conversations=[{"conversation_id": "a", "turns": [{"user": "So?", "agent": "Yes."}] * 3}]
    )
    made = talk(server, tmp_path, 'return f"It is turn {turn}."', real=people)
    assert made.about["real"]["turns_per_conversation"] == 3
    assert made.about["warnings"] == []
    with pytest.raises(DatasetError, match="has no conversation"):
        talk(server, tmp_path, 'return "x"', real=rivers_corpus())


def test_goals_need_gold_answers(server: FakeModelServer, tmp_path: Path) -> None:
    """A data set without them is refused before a call."""
    bare = Dataset.from_records(queries=[{"query_id": "q", "text": "Who?"}])
    with pytest.raises(DatasetError, match="no query with a gold answer"):
        talk(server, tmp_path, 'return "x"', seeds=bare)
    assert not server.asked
