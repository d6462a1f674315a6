"""The live agent of an annotation project: a system of an experiment, an own one, or an address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.annotation.agents import AgentTurn, AskedAgent
from ragstone.cli.build_options import Spending, spending_options
from ragstone.cli.options import together
from ragstone.types import Passage, Query

if TYPE_CHECKING:
    from ragstone.annotation.project import Project
    from ragstone.experiment.live_system import LiveSystem
    from ragstone.protocols import Services

_REPLIES: Final = "store"
"""The folder of a project with the replies of its models."""
_OPTIONS: Final = together(
    click.option(
        "--agent",
        default="",
        metavar="SYSTEM",
        help="Agent of conversations: EXPERIMENT.yaml:NAME, my_rag.py:answer or http://...",
    ),
    click.option(
        "--corpus", default="", metavar="SOURCE", help="Data set that the agent searches."
    ),
)
_FOUND: Final = 5
"""Passages that a search of a person adds."""


@dataclass(frozen=True)
class SystemAgent:
    """A live system as the agent of conversations.

    Args:
        name: how the command names it.
        system: the system.
        services: the services that make its model calls.
    """

    name: str
    system: LiveSystem
    services: Services

    @property
    def searches(self) -> bool:
        """Whether there are passages: the retriever finds them, or BM25 if there is none."""
        return len(self.system.corpus) > 0

    def reply(self, query: Query) -> AgentTurn:
        """Return the answer to a query with its history."""
        (found,) = self.system.reply([query], self.services)
        passages = tuple(self._passage(p.passage_id, p.text) for p in found.context.passages)
        made = found.prediction
        reason = "" if made.answer is not None else made.reason or "The agent gave no answer."
        return AgentTurn(made.answer, reason, passages, found.search)

    def search(self, text: str) -> AgentTurn:
        """Return the first passages that are found for a text."""
        ids = self.system.search(text, self.services).passage_ids[: self.system.shows or _FOUND]
        return AgentTurn(passages=tuple(self._passage(one) for one in ids), search=text)

    def _passage(self, passage_id: str, text: str | None = None) -> Passage:
        """Return a passage with its title; an own system may have passages of its own."""
        if passage_id not in self.system.corpus:
            return Passage(passage_id, text or "")
        known = self.system.corpus[passage_id]
        return Passage(passage_id, known.text, known.title)


@dataclass(frozen=True)
class ChosenAgent:
    """The agent that the options of a command name; empty ones are those of the project's file.

    Args:
        agent: the agent.
        corpus: its passages.
        spending: the limits of its model calls.
    """

    agent: str
    corpus: str
    spending: Spending

    def settings(self, folder: Path) -> dict[str, str]:
        """Return the keys of a new project; an existing one keeps those of its file."""
        from ragstone.annotation.project import FILE

        is_new = not (folder / FILE).exists()
        return {"agent": self.agent, "corpus": self.corpus} if is_new else {}

    @contextmanager
    def ready(self, project: Project) -> Iterator[AskedAgent | None]:
        """Yield the agent of a project, checked; None if no agent is named.

        Paths in the project's file are those from its folder. Raises `ConfigError` if there is no
        such agent, or if it cannot work here.
        """
        from ragstone.annotation.project import ITEMS
        from ragstone.experiment.live_system import LiveSystem

        settings, folder = project.settings, project.folder
        written = self.agent or _beside(folder, settings.agent)
        if project.task != "conversation" or not written:
            yield None
            return
        # An agent that answers by itself needs no passages: the items are a data set without any.
        data = self.corpus or _beside(folder, settings.corpus) or str(folder / ITEMS)
        system = LiveSystem.load(written, data)
        with self.spending.services(folder / _REPLIES) as services:
            system.check(services)
            made = SystemAgent(self.agent or settings.agent, system, services)
            if made.searches:
                # The index is ready before the first writer waits for it.
                made.search(next(iter(project.items.values())).query.text)
            yield AskedAgent(made, settings.agent_seconds, settings.agent_calls)


def agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the live agent to a command, which takes them as `agent`."""

    @wraps(command)
    def with_agent(*, agent: str, corpus: str, spending: Spending, **options: Any) -> Any:
        return command(agent=ChosenAgent(agent, corpus, spending), **options)

    return _OPTIONS(spending_options(with_agent))


def _beside(folder: Path, written: str) -> str:
    """Return a path of the project's file as seen from here; other texts stay."""
    path, colon, name = written.rpartition(":") if ":" in written else (written, "", "")
    if path and (folder / path).exists():
        return f"{folder / path}{colon}{name}"
    return str(folder / written) if written and (folder / written).exists() else written
