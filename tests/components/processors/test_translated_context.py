"""Passages are translated before the generator sees them, or dropped if that fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragstone.calls.types import Failure, Request
from ragstone.calls.types import Outcome as CallOutcome
from ragstone.components.processors.translated_context import TranslatedContext
from ragstone.core.component import Outcome
from ragstone.core.registry import create
from ragstone.core.step_notes import collect_notes
from ragstone.errors import ConfigError
from ragstone.testing import FakeModelServer, ScriptedCalls, check_processor
from ragstone.types import Context, ContextPassage, Query, Task

GERMAN = "Der Fluss fließt durch die alte Stadt und mündet nach vielen Windungen in das Meer."
ENGLISH = "The river runs through the old town and, after many bends, flows into the sea."
RIVER = Query("q1", "Where does the river run?", labels={"language": "en-GB"})
FLUSS = Query("q2", "Wohin fließt der Fluss?", labels={"language": "de"})


def task(query: Query, *texts: str) -> Task:
    """Return a task with some retrieved passages."""
    shown = tuple(ContextPassage(f"p{n}", text, "retrieved") for n, text in enumerate(texts))
    return Task(query, Context(query.query_id, "retrieved(3)", shown))


def scripted(reply: str | CallOutcome | Callable[[Request], str]) -> ScriptedCalls:
    """Return calls with one reply, or those of a function."""
    return ScriptedCalls(reply if callable(reply) else lambda _: reply)


def shown(outcome: Outcome[Context]) -> list[tuple[str, str]]:
    """Return id and text of each passage."""
    return [(passage.passage_id, passage.text) for passage in outcome.value.passages]


def test_each_passage_is_translated_once_per_language() -> None:
    """One that is in the language already has no call."""
    calls = scripted(lambda request: "Into English." if "English" in request.messages[0][1] else "")
    tasks = [task(RIVER, GERMAN, ENGLISH), task(RIVER, GERMAN), task(FLUSS, GERMAN)]

    first, second, third = TranslatedContext().process(tasks, calls.services())

    assert shown(first) == [("p0", "Into English."), ("p1", ENGLISH)]
    assert shown(second) == [("p0", "Into English.")]
    assert shown(third) == [("p0", GERMAN)]
    assert len(calls.asked) == 1


def test_one_language_may_be_given() -> None:
    """It does not depend on the query, whose labels are then not read."""
    calls = scripted("In die Stadt.")
    processor = create("processors", "translate(to=German)", where="test")

    (found,) = processor.process([task(RIVER, ENGLISH)], calls.services())

    assert shown(found) == [("p0", "In die Stadt.")]
    assert processor.uses == frozenset()
    assert TranslatedContext().uses == {"labels"}


@pytest.mark.parametrize(
    ("reply", "reason", "retry"),
    [
        ("", "not translated: the model wrote nothing", False),
        (GERMAN, "not translated: the reply is the text itself", False),
        (Failure("no route"), "not translated: no route", True),
    ],
)
def test_a_passage_that_was_not_translated_is_dropped(
    reply: str | CallOutcome, reason: str, *, retry: bool
) -> None:
    """The outcome has the reason, a note the number; the parameter keeps the passage."""
    tasks = [task(RIVER, ENGLISH, GERMAN)]

    with collect_notes() as notes:
        (dropped,) = TranslatedContext().process(tasks, scripted(reply).services())
        keeping = TranslatedContext(untranslated="keep")
        (kept,) = keeping.process(tasks, scripted(reply).services())

    assert shown(dropped) == [("p0", ENGLISH)]
    assert shown(kept) == [("p0", ENGLISH), ("p1", GERMAN)]
    assert dropped.reason == kept.reason
    assert dropped.reason.startswith(reason)
    assert dropped.retry is retry
    assert dict(notes) == {
        "passages whose translation failed, dropped": 1,
        "passages whose translation failed, shown as they are": 1,
    }


def test_a_query_of_an_unknown_language_has_no_translation() -> None:
    """No call is made; without passages there is no problem."""
    calls = scripted("x")
    tasks = [task(Query("q", "1999?"), GERMAN), task(Query("q", "1999?"))]

    found = list(TranslatedContext().process(tasks, calls.services()))

    assert [len(outcome.value.passages) for outcome in found] == [0, 0]
    assert "give it the label language" in found[0].reason
    assert found[1].reason == ""
    assert calls.asked == []


def test_an_unknown_language_is_an_error() -> None:
    """The error comes when the processor is created."""
    with pytest.raises(ConfigError, match="did you mean 'ja'"):
        create("processors", "translate(jp)", where="test")


def test_the_contract_of_processors() -> None:
    """The contexts have the same passages in other words, the same each time."""
    with FakeModelServer(answer=lambda _: "Kurz gesagt.") as server:
        model = {"name": "chat", "model": "m", "base_url": server.url}
        check_processor(TranslatedContext(to="de", model=model))
