"""The live agent of an annotation project: a system of an experiment, an own one, or an address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.annotation.agents import AgentTurn, AskedAgent
from ragstone.types import Passage, Query

if TYPE_CHECKING:
    from ragstone.annotation.project import Project
    from ragstone.cli.build_options import Spending
    from ragstone.experiment.live_system import LiveSystem
    from ragstone.protocols import Services

_REPLIES: Final = "store"
"""The folder of a project with the replies of its models."""
_SHOWN: Final = 5
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
        ids = self.system.search(text, self.services).passage_ids[: self.system.shows or _SHOWN]
        return AgentTurn(passages=tuple(self._passage(one) for one in ids), search=text)

    def _passage(self, passage_id: str, text: str | None = None) -> Passage:
        """Return a passage with its title; an own system may have passages of its own."""
        if passage_id not in self.system.corpus:
            return Passage(passage_id, text or "")
        known = self.system.corpus[passage_id]
        return Passage(passage_id, known.text, known.title)


@contextmanager
def live_agent(
    project: Project, agent: str, corpus: str, spending: Spending
) -> Iterator[AskedAgent | None]:
    """Yield the agent of a project, checked and ready; None if the project names none.

    Args:
        project: the project; paths in its file are those from its folder.
        agent: the agent, if it is not the one of the project's file.
        corpus: its passages, if they are not those of the project's file.
        spending: the limits of its model calls.

    Raises:
        ConfigError: there is no such agent, or it cannot work here.
    """
    from ragstone.annotation.project import ITEMS
    from ragstone.experiment.live_system import LiveSystem

    settings = project.settings
    written = agent or _beside(project.folder, settings.agent)
    if not written:
        yield None
        return
    # An agent that answers by itself needs no passages: the items are a data set without any.
    data = corpus or _beside(project.folder, settings.corpus) or str(project.folder / ITEMS)
    system = LiveSystem.load(written, data)
    with spending.services(project.folder / _REPLIES) as services:
        system.check(services)
        made = SystemAgent(agent or settings.agent, system, services)
        if made.searches:
            # The index is ready before the first writer waits for it.
            made.search(next(iter(project.items.values())).query.text)
        yield AskedAgent(made, settings.agent_seconds, settings.agent_calls)


def _beside(folder: Path, written: str) -> str:
    """Return a path of the project's file as seen from here; other texts stay."""
    path, colon, name = written.rpartition(":") if ":" in written else (written, "", "")
    if path and (folder / path).exists():
        return f"{folder / path}{colon}{name}"
    return str(folder / written) if written and (folder / written).exists() else written
