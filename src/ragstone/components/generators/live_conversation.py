"""A conversation as it would have gone: the system's own earlier answers are the history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final

from ragstone.calls.client import Calls
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.core.spec import parse_spec
from ragstone.errors import ConfigError
from ragstone.protocols import Generator
from ragstone.types import Message, Prediction, Query, Task

_LACKING: Final = "the system's answers to turns {turns} failed; they are not in the history"


@dataclass(frozen=True)
class Live:
    """Answers conversations turn by turn, each turn after the system's own answers.

    Instead of the reference answers of the data set. Turns of one number are answered together;
    a query that is no turn is answered as it is. The contexts are those of the setting: what was
    searched for is formed from the reference conversation, which matters only to query formers
    that read the agent's answers. A turn that failed is left out of the later histories, and the
    later answers say so.

    Args:
        generator: what answers, as it is written elsewhere: `local`, or `{name: chat, ...}`.
    """

    generator: str | dict[str, Any] = field(default="local", metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what is written."""
        parse_spec(self.generator, where="live, generator")
        _ = self._inner

    @property
    def revision(self) -> Mapping[str, Any]:
        """What the generator within is."""
        return cache_key_parts(self._inner)

    @cached_property
    def _inner(self) -> Generator:
        made: Generator = create("generators", self.generator, where="live, generator")
        return made

    def check(self, calls: Calls) -> None:
        """Ask the generator within whether it can run."""
        check = getattr(self._inner, "check", None)
        if check is not None:
            check(calls)

    def check_queries(self, queries: Sequence[Query]) -> None:
        """Raise `ConfigError` where an earlier turn of a conversation is not among the queries."""
        asked = {(_conversation(query), _turn(query)) for query in queries}
        for query in queries:
            earlier = sum(message.role == "user" for message in query.history)
            for turn in range(1, earlier + 1) if _turn(query) > 1 else ():
                if (_conversation(query), turn) not in asked:
                    raise ConfigError(
                        f"live: turn {turn} of conversation {_conversation(query)!r} is not among "
                        f"the queries, so there is no answer to go on from at turn {_turn(query)}; "
                        "take whole conversations (sample.where: {conversation: [...]}), not a "
                        "sample of queries, and settings that are defined for every turn"
                    )

    def generate(self, tasks: Sequence[Task], calls: Calls) -> Iterator[Prediction]:
        """Yield one prediction per task, in order.

        Raises:
            ConfigError: an earlier turn of a conversation is not among the tasks.
        """
        self.check_queries([task.query for task in tasks])
        answered: dict[tuple[str, int], Prediction] = {}
        found: dict[str, Prediction] = {}
        for number, group in _by_turn(tasks).items():
            held = [_live(task, number, answered) for task in group]
            answers = self._inner.generate([task for task, _ in held], calls)
            for (task, lacking), prediction in zip(held, answers, strict=True):
                noted = "; ".join(filter(None, [lacking, prediction.dropped]))
                found[task.query.query_id] = replace(prediction, dropped=noted)
                answered[_conversation(task.query), number] = prediction
        yield from (found[task.query.query_id] for task in tasks)


def _conversation(query: Query) -> str:
    return str(query.labels.get("conversation", query.query_id))


def _turn(query: Query) -> int:
    """Return the number of a turn; what is no turn of a conversation counts as a first one."""
    turn = query.labels.get("turn", 1)
    return turn if isinstance(turn, int) else 1


def _by_turn(tasks: Sequence[Task]) -> dict[int, list[Task]]:
    """Return turn -> tasks, in order."""
    found: dict[int, list[Task]] = {}
    for task in tasks:
        found.setdefault(_turn(task.query), []).append(task)
    return dict(sorted(found.items()))


def _live(
    task: Task, number: int, answered: Mapping[tuple[str, int], Prediction]
) -> tuple[Task, str]:
    """Return the task with the system's own answers as history, and what is lacking there."""
    if number == 1:
        return task, ""
    conversation = _conversation(task.query)
    asked = [message for message in task.query.history if message.role == "user"]
    said: list[Message] = []
    failed: list[str] = []
    for turn, question in enumerate(asked, start=1):
        own = answered[conversation, turn]
        if own.answer is None:
            failed.append(str(turn))
        else:
            said += [question, Message("agent", own.answer)]
    query = replace(task.query, history=tuple(said))
    return replace(task, query=query), _LACKING.format(turns=", ".join(failed)) if failed else ""
