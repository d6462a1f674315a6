"""Agents in threads: time limits, places, failures, and one run per ask."""

from __future__ import annotations

import logging
import threading

import pytest

from ragstone.annotation.agents import AgentTurn, AskedAgent
from ragstone.types import Passage, Query


class Echo:
    """An agent that repeats a query."""

    name = "echo"
    searches = True

    def reply(self, query: Query) -> AgentTurn:
        """Return the query."""
        return AgentTurn(query.text)

    def search(self, text: str) -> AgentTurn:
        """Return one passage."""
        return AgentTurn(passages=(Passage("p", text, "T"),))


def test_a_reply_becomes_the_value_of_an_event() -> None:
    """It names its ask."""
    assert Echo().search("x").value("a1") == {
        "ask": "a1",
        "answer": None,
        "reason": "",
        "search": "",
        "passages": [{"passage_id": "p", "text": "x", "title": "T"}],
    }


def test_an_ask_that_runs_is_not_begun_again() -> None:
    """A second copy of it changes nothing."""
    asked, go, kept = AskedAgent(Echo(), 10, 2), threading.Event(), list[AgentTurn]()

    def made(_agent: object) -> AgentTurn:
        go.wait(10)
        return AgentTurn("done")

    for _ in range(2):
        asked.start("a", made, kept.append)
    assert asked.running("a")
    go.set()
    assert asked.wait(10)
    assert ([one.answer for one in kept], asked.running("a")) == (["done"], False)


def test_an_agent_that_fails_gives_a_reason(caplog: pytest.LogCaptureFixture) -> None:
    """So does one that hangs; and while it hangs, its place is taken."""
    asked, go, kept = AskedAgent(Echo(), 0.05, 1), threading.Event(), list[AgentTurn]()

    def fails(_agent: object) -> AgentTurn:
        raise ValueError("no index")

    def hangs(_agent: object) -> AgentTurn:
        go.wait(10)
        return AgentTurn("late")

    with caplog.at_level(logging.WARNING):
        asked.start("a", fails, kept.append)
        assert asked.wait(10)
    asked.start("b", hangs, kept.append)
    assert asked.wait(10)
    asked.start("c", lambda agent: agent.reply(Query("q", "hello")), kept.append)
    assert asked.wait(10)
    go.set()
    assert [one.reason for one in kept] == [
        "ValueError: no index",
        "The agent gave no answer in 0.05 s.",
        "The agent was busy with other calls for 0.05 s.",
    ]


def test_a_reply_that_cannot_be_kept_ends_the_ask() -> None:
    """The ask can then be tried again."""
    asked = AskedAgent(Echo(), 10, 1)

    def full(_turn: AgentTurn) -> None:
        raise OSError("no space left")

    asked.start("a", lambda agent: agent.search("x"), full)
    assert asked.wait(10)
    assert not asked.running("a")
