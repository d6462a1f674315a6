"""Live agents: each call runs in a thread of its own, with a time limit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ragstone.types import Passage, Query
from ragstone.web import limits

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """The reply of an agent: an answer or the reason why there is none, and passages."""

    answer: str | None = None
    reason: str = ""
    passages: tuple[Passage, ...] = ()
    search: str = ""
    """The search text; empty if it is unknown."""

    def value(self, ask_id: str) -> dict[str, Any]:
        """Return the value of the reply event to an ask."""
        passages = [
            {"passage_id": one.passage_id, "text": one.text, "title": one.title}
            for one in self.passages
        ]
        found = {"ask": ask_id, "answer": self.answer, "reason": self.reason}
        return found | {"search": self.search, "passages": passages}


class LiveAgent(Protocol):
    """A retriever and a generator that answer the turns of a conversation."""

    @property
    def name(self) -> str:
        """How the owner, who alone sees it, named the agent."""
        ...

    @property
    def searches(self) -> bool:
        """Whether a person may search its passages."""
        ...

    def reply(self, query: Query) -> AgentTurn:
        """Return the answer to a query with its history."""
        ...

    def search(self, text: str) -> AgentTurn:
        """Return the passages found for a text."""
        ...


class AskedAgent:
    """An agent whose calls run in threads: no page waits for it, and a call that hangs is left.

    Args:
        agent: the agent.
        seconds: time limit of a call, and of the wait for a free place.
        calls: maximum number of calls at once; a call that hangs keeps its place.
    """

    def __init__(self, agent: LiveAgent, seconds: float, calls: int) -> None:
        self.agent, self.seconds = agent, seconds
        self.lock = threading.Lock()
        """Held while an ask is checked and kept: two tabs ask one turn once."""
        self._places = threading.Semaphore(calls)
        self._running: set[str] = set()
        self._changed = threading.Condition()

    def running(self, ask_id: str) -> bool:
        """Return whether an ask is being worked on."""
        with self._changed:
            return ask_id in self._running

    @property
    def is_full(self) -> bool:
        """Whether as many asks run or wait as there may be."""
        with self._changed:
            return len(self._running) >= limits.RUNNING_ASKS

    def start(
        self, ask_id: str, made: Callable[[LiveAgent], AgentTurn], keep: Callable[[AgentTurn], None]
    ) -> None:
        """Begin an ask unless it runs; `keep` gets the turn, or the reason why there is none."""
        with self._changed:
            if ask_id in self._running:
                return
            self._running.add(ask_id)
        work = (ask_id, made, keep)
        threading.Thread(target=self._answer, args=work, name="ragstone-ask", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until no ask runs; return whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)

    def _answer(
        self, ask_id: str, made: Callable[[LiveAgent], AgentTurn], keep: Callable[[AgentTurn], None]
    ) -> None:
        try:
            keep(self._within_time(made))
        except Exception:  # noqa: BLE001 - a full disk must not end the server
            # The ask is kept without a reply: the page shows that, and the person can try again.
            _LOG.exception("a reply of the agent could not be kept")
        finally:
            with self._changed:
                self._running.discard(ask_id)
                self._changed.notify_all()

    def _within_time(self, made: Callable[[LiveAgent], AgentTurn]) -> AgentTurn:
        """Return the reply of a call, or a reason if it fails or takes too long."""
        shown = f"{self.seconds:g} s"
        if not self._places.acquire(timeout=self.seconds):
            return AgentTurn(reason=f"The agent was busy with other calls for {shown}.")
        found: list[AgentTurn] = []

        def call() -> None:
            try:
                found.append(made(self.agent))
            except Exception as error:  # noqa: BLE001 - an agent may fail in any way
                _LOG.warning("the agent failed: %s", error)
                found.append(AgentTurn(reason=f"{type(error).__name__}: {error}"))
            finally:
                self._places.release()

        thread = threading.Thread(target=call, name="ragstone-agent", daemon=True)
        thread.start()
        thread.join(self.seconds)
        return found[0] if found else AgentTurn(reason=f"The agent gave no answer in {shown}.")
