"""Generators hold conversations: live histories, and what fits into a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.components.generators.support import answers_of

from ragstone.calls.types import Endpoint, Reply, Request
from ragstone.components.generators.chat import Chat
from ragstone.components.generators.context_window import fit
from ragstone.components.generators.live_conversation import Live
from ragstone.core.component import Outcome
from ragstone.core.registry import create
from ragstone.core.schemas import predictions_to_table, table_to_predictions
from ragstone.errors import ConfigError
from ragstone.protocols import Generator, Services
from ragstone.types import Context, ContextPassage, Label, Message, Prediction, Query, Task


@dataclass(frozen=True)
class Echo(Generator):
    """Answers with the query, and fails if the query contains "fail"."""

    seen: list[tuple[str, ...]] = field(default_factory=list)

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Prediction]]:
        """Yield one prediction per task."""
        for task in tasks:
            query = task.query
            self.seen.append(tuple(message.text for message in query.history))
            answer = None if "fail" in query.text else f"own answer to {query.text}"
            reason = "told to" if answer is None else ""
            yield Outcome(Prediction(query.query_id, answer, reason), reason, answer is None)


def turns(conversation: str, *questions: str) -> list[Task]:
    """Return the tasks of a conversation with reference answers."""
    said: tuple[Message, ...] = ()
    tasks = []
    for number, text in enumerate(questions, start=1):
        labels: dict[str, Label] = {"conversation": conversation, "turn": number}
        query = Query(f"{conversation}<::>{number}", text, history=said, labels=labels)
        tasks.append(Task(query, Context(query.query_id, "none")))
        said = (*said, Message("user", text), Message("agent", f"reference to {text}"))
    return tasks


def live() -> tuple[Live, Echo]:
    """Return a live generator and the inner echo."""
    made, inner = Live("gold"), Echo()
    object.__setattr__(made, "_inner", inner)
    return made, inner


def test_live_histories_contain_the_systems_own_answers() -> None:
    """Turn by turn over all conversations; predictions come back in the order of the tasks."""
    generator, inner = live()
    tasks = [*reversed(turns("a", "a1", "a2")), *turns("b", "b1", "b2", "b3")]

    found = answers_of(generator, tasks)

    assert [p.query_id for p in found] == [task.query.query_id for task in tasks]
    assert inner.seen[-1] == ("b1", "own answer to b1", "b2", "own answer to b2")
    assert not any("reference" in text for said in inner.seen for text in said)


class Short(Echo):
    """Yields texts in place of predictions, as your own generator may."""

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Any]:
        """Yield one text per task."""
        for outcome in super().generate(tasks, services):
            yield outcome.value.answer


def test_texts_of_your_own_generator_are_answers() -> None:
    """They are in the histories like predictions."""
    generator, inner = Live("gold"), Short()
    object.__setattr__(generator, "_inner", inner)

    found = answers_of(generator, turns("a", "a1", "a2"))

    assert [p.answer for p in found] == ["own answer to a1", "own answer to a2"]
    assert inner.seen[-1] == ("a1", "own answer to a1")


def test_a_failed_turn_is_left_out_and_noted() -> None:
    """Later histories do not contain the turn."""
    generator, inner = live()

    found = answers_of(generator, turns("a", "fail", "a2", "a3"))

    assert found[0].answer is None
    assert inner.seen[2] == ("a2", "own answer to a2")
    assert "answers to turns 1 failed" in found[2].dropped


def test_a_conversation_with_gaps_cannot_be_live() -> None:
    """The error names the conversation, the turn and a solution."""
    generator, _ = live()

    with pytest.raises(ConfigError, match=r"turn 1 of conversation 'a' .* whole conversations"):
        answers_of(generator, turns("a", "a1", "a2")[1:])


def test_a_query_outside_of_a_conversation_is_answered_as_it_is() -> None:
    """Its history is unchanged."""
    generator, inner = live()
    query = Query("q", "Who?", history=(Message("user", "x"), Message("agent", "y")))

    answers_of(generator, [Task(query, Context("q", "none"))])

    assert inner.seen == [("x", "y")]


def test_live_has_the_declarations_of_its_generator() -> None:
    """The plan counts the calls of the inner generator."""
    chat = Live({"name": "chat", "model": "m"})

    assert (chat.needs_model, chat.cost(5, 0)) == (True, 5)
    assert (Live("gold").needs_model, Live("gold").cost(5, 0)) == (False, 0)
    with pytest.raises(ConfigError, match=r"live, generator.*did you mean 'local'"):
        Live("locl")


def test_a_generator_of_your_own_may_raise_within_live(tmp_path: Path) -> None:
    """The turn at fault fails; the later turn is answered without it."""
    (tmp_path / "mine.py").write_text(
        "from ragstone.types import Prediction\n"
        "class Mine:\n"
        "    def generate(self, task):\n"
        "        if task.query.text == 'a1':\n"
        "            raise ValueError('no index')\n"
        "        return Prediction(task.query.query_id, 'yes')\n",
        encoding="utf-8",
    )
    written = {"name": "live", "generator": "mine.py:Mine"}
    generator = create("generators", written, where="generator", folder=tmp_path)
    tasks = [*turns("a", "a1", "a2"), *turns("b", "b1")]

    first, second, other = answers_of(generator, tasks)

    assert "Mine raised ValueError: no index" in first.reason
    assert (second.answer, "turns 1 failed" in second.dropped) == ("yes", True)
    assert (other.answer, other.dropped) == ("yes", "")


def test_the_key_of_live_has_the_model_and_its_address() -> None:
    """The port changes the key, and so does the model."""
    made = [
        Live({"name": "chat", "model": model, "base_url": f"http://localhost:{port}/v1"})
        for model, port in (("m", 1), ("m", 2), ("n", 1), ("m", 1))
    ]

    assert len({str(live.content_revision) for live in made}) == 3


def long_task() -> Task:
    """Return a task of three turns of 20 tokens each and two passages of 10."""
    said = [m for n in "123" for m in (Message("user", n * 40), Message("agent", n * 40))]
    passages = tuple(ContextPassage(f"p{n}", "x" * 40, "retrieved") for n in (1, 2))
    return Task(Query("q", "?" * 400, history=tuple(said)), Context("q", "retrieved(2)", passages))


@pytest.mark.parametrize(
    ("budget", "turns_left", "passages_left", "dropped"),
    [
        (None, 3, 2, ""),
        (80, 3, 2, ""),
        (79, 2, 2, "turn 1"),
        (40, 1, 2, "turns 1-2"),
        (39, 1, 1, "turns 1-2; passage p2"),
        (20, 1, 0, "turns 1-2; passage p1, passage p2"),
        (5, 0, 0, "turns 1-3; passage p1, passage p2"),
    ],
)
def test_oldest_turns_go_first_then_the_last_passages(
    budget: int | None, turns_left: int, passages_left: int, dropped: str
) -> None:
    """The turn before the query is dropped last; the query is never cut."""
    fitted, told = fit(long_task(), budget)

    assert (len(fitted.query.history), len(fitted.context.passages)) == (
        2 * turns_left,
        passages_left,
    )
    assert told == dropped
    assert fitted.query.text == "?" * 400


class _Replies:
    """Stands in for calls and remembers the requests."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def ask(self, _: Endpoint, requests: Sequence[Request], **__: Any) -> Iterator[Reply]:
        self.requests = list(requests)
        return iter([Reply("yes")] * len(requests))

    def cost(self, *_: Any) -> None:
        return None


@pytest.mark.parametrize("user", ["{context}\n\n{query}", "{history}\n{context}\n{query}"])
def test_a_history_is_sent_as_messages_or_within_one_prompt(user: str) -> None:
    """Both forms are cut to the budget, and the prediction names the dropped parts."""
    calls: Any = _Replies()
    chat = Chat("m", "http://x", system="Answer.", user=user, budget=45)

    (found,) = answers_of(chat, [long_task()], calls)

    messages = calls.requests[0].messages
    assert found.dropped == "turns 1-2"
    assert len(messages) == (2 if "{history}" in user else 4)
    assert sum("3" * 40 in text for _, text in messages) == (1 if "{history}" in user else 2)
    assert not any("1" * 40 in text for _, text in messages)


def test_dropped_parts_are_kept_in_the_table() -> None:
    """The table of predictions has a column for it."""
    prediction = Prediction("q", "yes", dropped="turn 1")

    assert table_to_predictions(predictions_to_table([prediction])) == [prediction]
