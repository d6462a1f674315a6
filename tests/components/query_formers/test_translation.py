"""Queries are translated by a model, and searched for as they are where that fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ragstone.calls.client import Calls
from ragstone.components.query_formers.translation import Translation, read_translation
from ragstone.core.component import Outcome
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer
from ragstone.types import Message, Query


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """A call log in a temporary folder."""
    with Calls.at(tmp_path / "calls.sqlite") as opened:
        yield opened


def translated(
    reply: str, calls: Calls, *queries: Query, of: str = "as-given"
) -> list[Outcome[str]]:
    """Return the search texts if the model always gives one reply."""
    with FakeModelServer(answer=lambda _: reply) as server:
        model = {"name": "chat", "model": "m", "base_url": server.url}
        return list(Translation(model=model, of=of).form(queries, Services(calls=calls)))


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
        ("so " * 100, "no translation in 'so so"),
        ("<think>\nWhere could it be?", "the reply ends within the model's thinking"),
    ],
)
def test_a_reply_without_a_translation_is_reported(calls: Calls, reply: str, reason: str) -> None:
    """The query is searched for as it is, with the reason."""
    (formed,) = translated(reply, calls, Query("q", "Wo ist es?"))

    assert formed.value == "Wo ist es?"
    assert formed.reason.startswith(reason)
    assert not formed.retry


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
    ("reply", "found"),
    [
        ("«Où est-ce?»", "Où est-ce?"),
        ("Here it is:\n\nWhere is it?", "Where is it?"),
        ("Query: where: here?", "where: here?"),
        ("12:30 train", "12:30 train"),
        ("", ""),
    ],
)
def test_replies_are_read_tolerantly(reply: str, found: str) -> None:
    """Quotes of many kinds, a sentence before and colons are accepted."""
    assert read_translation(reply) == found


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("translation(language=' ')", "language is empty"),
        ("translation(of=llm-rewrite)", "calls a model itself"),
        ({"name": "translation", "system": "Translate."}, "language"),
        ({"name": "translation", "model": "gold"}, "not a language model"),
    ],
)
def test_wrong_parameters_are_errors(written: object, message: str) -> None:
    """The error comes when the query former is created."""
    with pytest.raises(ConfigError, match=message):
        create("query_formers", written, where="query")
