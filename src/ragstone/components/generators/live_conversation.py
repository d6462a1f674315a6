"""Live conversations: the history of each turn contains the system's earlier answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from ragstone.calls.estimates import Estimate
from ragstone.core.component import NOT_IN_CACHE_KEY, SET_BY_A_RUN, Outcome, run_component
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.protocols import Generator, Services
from ragstone.types import Message, Prediction, Query, Task


@dataclass(frozen=True)
class Live(Generator):
    """Answers conversations turn by turn, with the system's own answers as the history.

    They replace the reference answers of the data set. Turns with the same number are answered
    together; a query outside of a conversation is answered as it is. The contexts are those of the
    setting: search texts are formed from the reference conversation, which matters only to query
    formers that read the agent's answers. A failed turn is left out of the later histories, and
    the later predictions report it.

    Args:
        generator: the generator that answers: `local`, or `{name: chat, ...}`.
        run: the run that the replies belong to, set by an experiment.
    """

    generator: str | dict[str, Any] = field(default="local", metadata=NOT_IN_CACHE_KEY)
    run: str = field(default="", metadata={**NOT_IN_CACHE_KEY, **SET_BY_A_RUN})

    def __post_init__(self) -> None:
        """Create the generator that answers, so that its errors are raised now."""
        _ = self._inner

    @cached_property
    def _inner(self) -> Generator:
        made: Generator = create("generators", self.generator, where="live, generator")
        return made.of_run(self.run)

    @property
    def declared_release(self) -> str:
        """The declared version of the generator that answers, or ""."""
        return self._inner.declared_release

    @property
    def asks_again(self) -> bool:
        """Whether each run asks the generator that answers again."""
        return self._inner.asks_again

    def of_run(self, run: str) -> Live:
        """Return the generator with replies of its own for a run."""
        return replace(self, run=run)

    @property
    def content_revision(self) -> Mapping[str, Any]:
        """The cache key parts of the generator that answers."""
        return cache_key_parts(self._inner)

    @property
    def templates(self) -> Mapping[str, str]:
        """The texts that the generator that answers sends."""
        return self._inner.templates

    @property
    def named_prompt(self) -> Mapping[str, Any]:
        """The prompt of the generator that answers."""
        return self._inner.named_prompt

    @property
    def uses(self) -> frozenset[str]:
        """The labels of turns, and the inputs of the generator that answers."""
        return self._inner.uses | self._inner.fields_read | {"labels"}

    @property
    def needs_model(self) -> bool:
        """Whether the generator that answers runs a model."""
        return self._inner.needs_model

    @property
    def takes_all_items(self) -> bool:
        """True: a turn continues from the answers to the turns before it."""
        return True

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return the calls of the generator that answers."""
        return self._inner.cost(n_queries, n_passages)

    def check(self, services: Services) -> None:
        """Raise if the generator that answers cannot work here."""
        self._inner.check(services)

    def check_queries(self, queries: Sequence[Query]) -> None:
        """Raise `ConfigError` if an earlier turn of a conversation is not among the queries."""
        self._inner.check_queries(queries)
        present = {(_conversation(query), _turn(query)) for query in queries}
        for query in queries:
            earlier = sum(message.role == "user" for message in query.history)
            for turn in range(1, earlier + 1) if _turn(query) > 1 else ():
                if (_conversation(query), turn) not in present:
                    raise ConfigError(
                        f"live: turn {turn} of conversation {_conversation(query)!r} is not among "
                        f"the queries, so turn {_turn(query)} has no answer to continue from; "
                        "take whole conversations (sample.where: {conversation: [...]}), not a "
                        "sample of queries, and settings that are defined for every turn"
                    )

    def check_setting(self, setting: str) -> None:
        """Raise `ConfigError` if the generator that answers takes no passages."""
        self._inner.check_setting(setting)

    def estimate(
        self, tasks: Sequence[Task], services: Services, *, sample: int = 0
    ) -> Estimate | None:
        """Return an estimate from the reference histories.

        No sample calls are made: the run could not use calls with those histories.
        """
        return self._inner.estimate(tasks, services)

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Prediction]]:
        """Yield one prediction per task, in order.

        Raises:
            ConfigError: an earlier turn of a conversation is not among the tasks.
        """
        self.check_queries([task.query for task in tasks])
        answered: dict[tuple[str, int], Prediction] = {}
        found: dict[str, Outcome[Prediction]] = {}
        for turn, group in groupby(sorted(tasks, key=_turn_of), key=_turn_of):
            live = [_with_own_answers(task, turn, answered) for task in group]
            outcomes = run_component(self._inner, services, [task for task, _ in live])
            for (task, missing), outcome in zip(live, outcomes, strict=True):
                query = task.query
                given = self._inner.prediction_of(query.query_id, outcome)
                dropped = "; ".join(filter(None, [missing, given.dropped]))
                found[query.query_id] = replace(outcome, value=replace(given, dropped=dropped))
                answered[_conversation(query), turn] = given
        yield from (found[task.query.query_id] for task in tasks)


def _conversation(query: Query) -> str:
    return str(query.labels.get("conversation", query.query_id))


def _turn(query: Query) -> int:
    """Return the number of a turn; a query outside of a conversation counts as a first turn."""
    turn = query.labels.get("turn", 1)
    return turn if isinstance(turn, int) else 1


def _turn_of(task: Task) -> int:
    return _turn(task.query)


def _with_own_answers(
    task: Task, turn: int, answered: Mapping[tuple[str, int], Prediction]
) -> tuple[Task, str]:
    """Return the task with the system's own answers as history, and a note of failed turns."""
    if turn == 1:
        return task, ""
    questions = [message for message in task.query.history if message.role == "user"]
    history: list[Message] = []
    failed: list[str] = []
    for earlier, question in enumerate(questions, start=1):
        own = answered[_conversation(task.query), earlier].answer
        if own is None:
            failed.append(str(earlier))
        else:
            history += [question, Message("agent", own)]
    turns = ", ".join(failed)
    note = f"the system's answers to turns {turns} failed; they are not in the history"
    query = replace(task.query, history=tuple(history))
    return replace(task, query=query), note if failed else ""
