"""Queries are translated by a model, and not searched for if that fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ragstone.calls.client import Calls
from ragstone.calls.types import Failure
from ragstone.components.query_formers.translation import Translation
from ragstone.core.builtins import SHOWN_NAMES
from ragstone.core.component import Outcome
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create, known
from ragstone.core.step_notes import collect_notes
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer, ScriptedCalls, check_query_former
from ragstone.types import Message, Query


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """A call log in a temporary folder."""
    with Calls.at(tmp_path / "calls.sqlite") as opened:
        yield opened


def translated(reply: str, calls: Calls, *queries: Query, **options: str) -> list[Outcome[str]]:
    """Return the search texts if the model always gives one reply."""
    with FakeModelServer(answer=lambda _: reply) as server:
        model = {"name": "chat", "model": "m", "base_url": server.url}
        former = create("query_formers", {"name": "translate", "model": model, **options}, where="")
        return list(former.form(queries, Services(calls=calls)))


def test_the_translation_is_searched_for(calls: Calls) -> None:
    """A title and quotes around it are removed."""
    (formed,) = translated('Translation: "Where is it?"', calls, Query("q", "Wo ist es?"))

    assert formed == Outcome("Where is it?")


def test_another_formers_text_may_be_translated(calls: Calls) -> None:
    """The prompt contains the former's text: here the user's turns."""
    query = Query("q", "Und wann?", history=(Message("user", "Wo ist es?"),))
    seen = []

    def answer(messages: Sequence[Mapping[str, str]]) -> str:
        seen.append(messages)
        return "x"

    with FakeModelServer(answer=answer) as server:
        model = {"name": "chat", "model": "m", "base_url": server.url}
        former = Translation(model=model, of="user-turns", language="Dutch")
        list(former.form([query], Services(calls=calls)))

    system, user = seen[0]
    assert "into Dutch" in system["content"]
    assert user["content"] == "Wo ist es?\nUnd wann?"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the model wrote nothing"),
        ("so " * 100, "the reply is far longer than the text: 'so so"),
        ("<think>\nWhere could it be?", "the reply ends within the model's thinking"),
        ("I'm sorry, but I can't assist with that.", "the model refused"),
    ],
)
def test_a_reply_without_a_translation_is_reported(calls: Calls, reply: str, reason: str) -> None:
    """Nothing is searched for, with the reason and a note; the parameter keeps the text."""
    with collect_notes() as notes:
        (formed,) = translated(reply, calls, Query("q", "Wo ist es?"))
        (kept,) = translated(reply, calls, Query("q", "Wo ist es?"), untranslated="keep")

    assert (formed.value, kept.value) == ("", "Wo ist es?")
    assert formed.reason == kept.reason
    assert formed.reason.startswith(f"not translated: {reason}")
    assert not formed.retry
    assert dict(notes) == {
        "queries whose translation failed, not searched for": 1,
        "queries whose translation failed, searched for as they are": 1,
    }


def test_a_failed_call_is_made_again_by_the_next_run() -> None:
    """The reason is that of the call."""
    calls = ScriptedCalls(lambda _: Failure("no route"))

    (formed,) = Translation().form([Query("q", "Wo ist es?")], calls.services())

    assert formed == Outcome("", "not translated: no route", retry=True)


def test_a_query_in_the_language_by_its_label_needs_no_call() -> None:
    """A region does not matter; another label, or none, is a call; `language` reads no label."""
    queries = [
        Query("q1", "Where?", labels={"language": "en-GB"}),
        Query("q2", "Wo?", labels={"language": "de"}),
        Query("q3", "Wo denn?"),
    ]
    calls = ScriptedCalls(lambda _: "Where is it?")

    formed = list(Translation(to="English").form(queries, calls.services()))
    assert [one.value for one in formed] == ["Where?", "Where is it?", "Where is it?"]
    assert len(calls.asked) == 2

    former = Translation(language="English")
    list(former.form(queries[:1], calls.services()))
    assert len(calls.asked) == 3
    assert "labels" in Translation().uses
    assert "labels" not in former.uses


def test_the_former_name_has_the_same_key_and_is_hidden() -> None:
    """`translation(language=French)` is `translate(to=fr)`; other wordings have keys of theirs."""
    one, *others = (
        cache_key_parts(create("query_formers", written, where="query"))
        for written in (
            "translate(to=fr)",
            "translation(language=French)",
            "translation(French)",
            "translate(to=fr-CA)",
        )
    )
    own = cache_key_parts(Translation(language="Old French"))

    assert others == [one] * 3
    assert one["component"] == "query_formers/translation"
    assert one["parameters"]["language"] == "French"
    assert own["parameters"]["language"] == "Old French"
    assert "translation" not in known("query_formers")
    assert SHOWN_NAMES[one["component"]] == "query_formers/translate"


def test_the_contract_of_query_formers() -> None:
    """Every query has one text, the same each time."""
    with FakeModelServer(answer=lambda _: "where") as server:
        check_query_former(
            Translation(model={"name": "chat", "model": "m", "base_url": server.url})
        )


def test_another_former_makes_another_key() -> None:
    """The code of the inner former is part of the key."""
    model = {"name": "chat", "model": "m"}
    one, other = (
        Translation(model=model, of=of).content_revision for of in ("as-given", "user-turns")
    )

    assert one["of"]["component"].endswith("/as-given")
    assert "source" in other["of"]
    assert one != other


def test_an_empty_query_is_not_asked_about(calls: Calls) -> None:
    """It is empty, and the next query gets its own translation."""
    formed = translated("Where?", calls, Query("q1", " "), Query("q2", "Wo?"))

    assert [one.value for one in formed] == [" ", "Where?"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("translation(language=' ')", "language is empty"),
        ("translate(to=jp)", "did you mean 'ja'"),
        ("translate(untranslated=maybe)", "untranslated"),
        ("translation(of=llm-rewrite)", "calls a model itself"),
        ({"name": "translation", "system": "Translate."}, "language"),
        ({"name": "translation", "model": "gold"}, "not a language model"),
    ],
)
def test_wrong_parameters_are_errors(written: object, message: str) -> None:
    """The error comes when the query former is created."""
    with pytest.raises(ConfigError, match=message):
        create("query_formers", written, where="query")
