"""Your own systems: the task that a system receives.

A system receives the query, its history and, if it takes a context, the passages of the setting. It
never receives gold answers, qrels or labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import orjson

from ragstone.calls.types import Request, Sampling
from ragstone.components.generators.llm_base import EndpointGenerator
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.errors import ComponentError, ConfigError
from ragstone.protocols import Services
from ragstone.types import Context, ContextPassage, Message, Prediction, Query, Task

NO_SAMPLING: Final = Sampling(temperature=None, max_tokens=None)
"""Your own system chooses its sampling parameters itself."""
_check_first: ContextVar[bool] = ContextVar("check_first", default=False)


@contextmanager
def first_reply_checked() -> Iterator[None]:
    """Stop a run in this block if the first reply of an own system has a wrong form."""
    token = _check_first.set(True)
    try:
        yield
    finally:
        _check_first.reset(token)


@dataclass(frozen=True, kw_only=True)
class ExternalSystem(EndpointGenerator):
    """Your own system, which receives each task in one call.

    Args:
        identity: the parts of the definition that distinguish this system from others, by default
            all (docs/identity.md); a text is a name in their place.
    """

    identity: str | list[str] = field(default="", metadata=NOT_IN_CACHE_KEY)

    may_retrieve = True
    context_hint: ClassVar[str]
    """The change that makes the system take a context."""

    @property
    def takes_context(self) -> bool:
        """Whether the system answers from the passages of the context."""
        raise NotImplementedError

    @property
    def content_revision(self) -> str:
        """The identity of the system."""
        return self.endpoint.identity

    def request(self, task: Task) -> Request:
        """Return the call that sends a task as JSON."""
        return Request((("task", orjson.dumps(as_plain_data(task)).decode()),), NO_SAMPLING)

    def check_setting(self, setting: str) -> None:
        """Raise `ConfigError` if the system takes no context."""
        if not self.takes_context:
            raise ConfigError(
                f"the setting {setting!r} shows passages, but {self.endpoint.model!r} takes "
                "none, so its answers would be measured with a context that it never received; "
                f"use the setting 'none', or {self.context_hint}"
            )

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Prediction]]:
        """Return one prediction per task, in order; raise as `check_setting` does."""
        for shown in (task.context for task in tasks if task.context.passages):
            self.check_setting(shown.setting)
        if self.asks_again and not self.run:
            return self.of_run(services.calls.run).generate(tasks, services)
        generate = self._first_alone if _check_first.get() else super().generate
        return generate(tasks, services)

    def _first_alone(
        self, tasks: Sequence[Task], services: Services
    ) -> Iterator[Outcome[Prediction]]:
        """Yield the outcome of the first task before the others are sent; it is not sent again."""
        for outcome in super().generate(tasks[:1], services):
            if outcome.value.status == "unreadable":
                raise ComponentError(
                    f"the first reply stopped the run: {outcome.value.reason}",
                    component=self.endpoint.model,
                    query_id=outcome.value.query_id,
                )
            yield outcome
        yield from super().generate(tasks[1:], services)


def as_plain_data(task: Task) -> dict[str, Any]:
    """Return the parts of a task that your own system receives, as plain data."""
    return {
        "query_id": task.query.query_id,
        "query": task.query.text,
        "history": [{"role": m.role, "text": m.text} for m in task.query.history],
        "passages": [{"passage_id": p.passage_id, "text": p.text} for p in task.context.passages],
    }


def as_task(request: Request) -> Task:
    """Return the task in a request of `ExternalSystem`, without gold answers and labels."""
    given = orjson.loads(request.messages[0][1])
    history = tuple(Message(m["role"], m["text"]) for m in given["history"])
    passages = tuple(
        ContextPassage(p["passage_id"], p["text"], "retrieved") for p in given["passages"]
    )
    query = Query(given["query_id"], given["query"], history=history)
    return Task(query, Context(query.query_id, "", passages))
