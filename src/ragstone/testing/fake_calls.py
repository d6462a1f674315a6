"""A fake of `Calls`: replies are those of a function, and no server is involved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Outcome, Reply, Request
from ragstone.calls.usage import SharedState, Usage
from ragstone.protocols import Services


@dataclass
class ScriptedCalls(Calls):
    """A fake of `Calls` that answers requests with a function and records them.

    >>> from ragstone.calls.types import chat
    >>> calls = ScriptedCalls(lambda request: "Verdict: yes")
    >>> [reply.text for reply in calls.ask(Endpoint("m", ("http://localhost/v1",)), [chat("?")])]
    ['Verdict: yes']
    """

    answer: Callable[[Request], str | Outcome]
    """Returns the reply to a request, or its outcome."""
    asked: list[Request] = field(default_factory=list)
    """The requests, in order."""
    rejected: list[str] = field(default_factory=list)
    """Reasons why replies were rejected, one per reply."""

    def __post_init__(self) -> None:
        """Count calls as `Calls` does."""
        self._shared = SharedState()

    def ask(
        self, endpoint: Endpoint, requests: Iterable[Request], *, title: str = ""
    ) -> Iterator[Outcome]:
        """Yield the outcome of each of `requests`; a text becomes a finished reply.

        `endpoint` and `title` are not used.
        """
        for request in requests:
            self.asked.append(request)
            outcome = self.answer(request)
            yield Reply(outcome, "stop", 100, 5, 0.01) if isinstance(outcome, str) else outcome

    def reject(self, keys: Sequence[str], reason: str) -> None:
        """Record the reason for each rejected reply."""
        self.rejected += [reason] * len(keys)

    @property
    def usage(self) -> Usage:
        """The number of requests."""
        return Usage(asked=len(self.asked))

    def services(self, **others: Any) -> Services:
        """Return services with these calls, and with others such as a corpus."""
        return Services(calls=self, **others)
