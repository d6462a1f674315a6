"""Asking the agent, taking turns back and sending to review, with a real own system."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.conversation_project import conversation_project, open_site

from ragstone.annotation.conversation import WrittenConversation, conversation
from ragstone.annotation.conversation_calls import ask, submit, take_back
from ragstone.annotation.events import Event
from ragstone.annotation.people import Person
from ragstone.annotation.project import Project
from ragstone.annotation.site import Site
from ragstone.errors import ConfigError
from ragstone.web import limits
from ragstone.web.errors import PageError

ANN, BEN = Person("ann", "annotator"), Person("ben", "annotator")
CABINS = "Do the night boats have cabins for four?"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Yield a project with its agent."""
    with open_site(conversation_project(tmp_path / "p")) as found:
        yield found


def asked(site: Site, text: str, turn: int = 1, person: Person = ANN, **more: Any) -> Any:
    """Ask, wait for the agent, and ask how it stands."""
    body = {"client_id": f"a{turn}", "item_id": "c1", "turn": turn, "text": text, "kind": "query"}
    body |= more
    ask(site, person, body)
    assert site.agent is not None
    assert site.agent.wait(20)
    return ask(site, person, body | {"again": False})


def state(site: Site) -> WrittenConversation:
    """Return the first conversation."""
    return conversation(site.database, "c1")


def complete(site: Site, turn: int) -> None:
    """Mark the passages of a turn and label it."""
    labels: dict[str, Any] = {"answerability": "answerable", "question_type": ["factoid"]}
    labels |= {"multi_turn": "follow-up"} if turn > 1 else {}
    given = [(name, str(turn), value) for name, value in labels.items()]
    passages = state(site).turns[turn - 1].passages
    given += [("relevance", f"{turn}/{one.passage_id}", "yes") for one in passages]
    events = [
        Event(f"l{turn}-{n}", "label", "c1", field, part, value)
        for n, (field, part, value) in enumerate(given)
    ]
    site.database.append(ANN.name, events)


def log(site: Site) -> list[str]:
    """Return what the agent was asked."""
    return (site.project.folder / "asked.txt").read_text().splitlines()


def test_an_ask_is_kept_and_answered_once(site: Site) -> None:
    """A copy of it reports the same answer; the agent is asked once."""
    assert asked(site, CABINS) == {"state": "answered", "reason": ""}
    assert asked(site, CABINS)["state"] == "answered"
    (turn,) = state(site).turns
    assert (turn.query, turn.seen, turn.ask_id) == (CABINS, 2, "a1")
    assert turn.answer is not None
    assert turn.answer.startswith("Cabins for four are on decks 5 and 6")
    assert [one.title for one in turn.passages] == ["Night boat", "Pets"]
    assert len(log(site)) == 1


def test_the_history_has_the_repaired_answers(site: Site) -> None:
    """The next query needs a complete turn first."""
    asked(site, CABINS)
    with pytest.raises(PageError, match="Turn 1 needs marks of 2 passages, answerability"):
        asked(site, "And the cost?", 2)
    complete(site, 1)
    site.database.append("ann", [Event("r1", "label", "c1", "answer", "1", "On deck 5.")])
    assert asked(site, "And the cost?", 2)["state"] == "answered"
    assert log(site)[1] == f"And the cost? | ['{CABINS}', 'On deck 5.']"


def test_a_failure_leaves_the_query_and_can_be_tried_again(site: Site) -> None:
    """The reason is kept with the turn; the retry is the same ask."""
    (site.project.folder / "fails").touch()
    hidden = "The agent failed. The owner of the project can see the reason."
    assert asked(site, CABINS) == {"state": "failed", "reason": hidden}
    assert "the index is gone <b>now</b>" in state(site).turns[0].reason
    assert state(site).turns[0].query == CABINS
    with pytest.raises(PageError, match="Turn 1 needs an answer"):
        asked(site, "And?", 2)
    (site.project.folder / "fails").unlink()
    assert asked(site, CABINS)["state"] == "failed"
    assert asked(site, CABINS, again=True)["state"] == "answered"
    assert len(state(site).turns) == 1
    assert asked(site, CABINS, again=True)["state"] == "answered"
    replies = site.database.events(item_id="c1", kinds=("reply",))
    assert [one.event.client_id for one in replies] == ["a1-r1", "a1-r2"]


def test_an_agent_that_hangs_gives_a_reason_and_later_counts_for_nothing(tmp_path: Path) -> None:
    """The late answer of the first try does not replace that of the second."""
    folder = conversation_project(tmp_path / "p", seconds=0.5)
    (folder / "hangs").touch()
    with open_site(folder) as site:
        assert asked(site, CABINS)["reason"] == "The agent gave no answer in 0.5 s."
        (folder / "hangs").unlink()
        assert asked(site, CABINS, again=True)["state"] == "answered"
        assert len(list(site.database.events(kinds=("reply",)))) == 2


def test_a_search_adds_passages(site: Site) -> None:
    """An own system without a retriever has BM25; known passages are not added twice."""
    asked(site, CABINS)
    assert asked(site, "bicycles", kind="search", client_id="s1")["state"] == "answered"
    (turn,) = state(site).turns
    assert [one.passage_id for one in turn.passages] == ["cabins#5", "pets#2", "bicycles#1"]
    assert (turn.seen, turn.passages[2].title) == (2, "Bicycles")
    with pytest.raises(PageError, match=r"There is no turn 2"):
        asked(site, "pets", 2, kind="search", client_id="s2")


def test_the_last_turn_can_be_taken_back(site: Site) -> None:
    """Its labels go with it: the same turn asked again begins without any."""
    asked(site, CABINS)
    complete(site, 1)
    body = {"client_id": "u1", "item_id": "c1", "turn": 1}
    assert take_back(site, ANN, body) == {"text": CABINS}
    assert take_back(site, ANN, body) == {"text": ""}
    assert state(site).turns == ()
    asked(site, "Which lines carry bicycles?", client_id="b1")
    (turn,) = state(site).turns
    assert turn.answer is not None
    assert turn.answer.startswith("All lines carry bicycles")
    assert dict(turn.labels) == dict(turn.relevance) == {}
    with pytest.raises(PageError, match="Only the last turn, 1"):
        take_back(site, ANN, {**body, "client_id": "u2", "turn": 2})


def test_a_conversation_is_sent_if_its_goals_are_met(site: Site) -> None:
    """It is then read only, until its writer takes it back; after a decision nobody can."""
    send = {"client_id": "s1", "item_id": "c1", "submitted": True}
    asked(site, CABINS)
    complete(site, 1)
    with pytest.raises(PageError, match="1 more turn needed"):
        submit(site, ANN, send)
    asked(site, "Which lines carry bicycles?", 2)
    complete(site, 2)
    assert submit(site, ANN, send) == {"submitted": True}
    assert state(site).state == "submitted"
    with pytest.raises(PageError, match="is sent to review"):
        asked(site, "And?", 3)
    assert submit(site, ANN, {**send, "client_id": "s2", "submitted": False}) == {
        "submitted": False
    }
    assert state(site).state == "writing"
    submit(site, ANN, {**send, "client_id": "s3"})
    site.database.append("rev", [Event("d1", "label", "c1", "decision", "1", "accept")])
    with pytest.raises(PageError, match="is sent to review"):
        submit(site, ANN, {**send, "client_id": "s4", "submitted": False})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"turn": 3}, "the next turn is 1"),
        ({"turn": "1"}, "needs a turn from 1 on"),
        ({"turn": True}, "needs a turn from 1 on"),
        ({"kind": "other"}, "a kind, query or search"),
        ({"text": " "}, "text is empty"),
        ({"text": "x" * (limits.ASKED_CHARACTERS + 1)}, "more than 10,000"),
        ({"text": 3}, "not readable"),
        ({"client_id": "x" * limits.EVENT_ID_CHARACTERS}, "too long"),
        ({"item_id": "zz"}, "no item 'zz'"),
    ],
)
def test_a_wrong_ask_is_refused_and_not_kept(site: Site, wrong: dict[str, Any], said: str) -> None:
    """The refusal names what is wrong."""
    body = {"client_id": "a", "item_id": "c1", "turn": 1, "text": "Who?", "kind": "query"}
    with pytest.raises(PageError, match=said):
        ask(site, ANN, body | wrong)
    assert site.database.count() == 0


def test_a_conversation_has_one_writer(site: Site) -> None:
    """Nobody else asks in it; two tabs ask a turn once."""
    asked(site, CABINS)
    with pytest.raises(PageError, match="Another person writes"):
        asked(site, "And?", 2, person=BEN)
    with pytest.raises(PageError, match="Turn 1 was asked before; the next turn is 2"):
        asked(site, "Another?", client_id="tab2")


def test_a_withdrawn_conversation_and_the_last_turn_are_closed(site: Site) -> None:
    """Each has its reason."""
    for turn in (1, 2, 3):
        asked(site, CABINS, turn)
        complete(site, turn)
    with pytest.raises(PageError, match="at most 3 turns"):
        asked(site, "And?", 4)
    site.database.append("owner", [Event("w", "withdraw", "c1", value="a mistake")])
    with pytest.raises(PageError, match="out of the project: a mistake"):
        asked(site, "And?", 4)


def test_without_an_agent_nothing_is_asked(site: Site) -> None:
    """The refusal names the option."""
    site.agent = None
    with pytest.raises(PageError, match="no agent") as found:
        ask(site, ANN, {"client_id": "a", "item_id": "c1", "turn": 1, "text": "?", "kind": "query"})
    assert "--agent" in found.value.state.then


def test_several_writers_ask_at_once(site: Site) -> None:
    """Each gets the answer to their own query."""
    queries = {"c1": CABINS, "c2": "One dog or cat?", "c3": "Which lines carry bicycles?"}

    def write(pair: tuple[str, str]) -> Any:
        item_id, text = pair
        person = Person(f"writer {item_id}", "annotator")
        return asked(site, text, person=person, item_id=item_id, client_id=f"a-{item_id}")

    with ThreadPoolExecutor(3) as threads:
        assert [one["state"] for one in threads.map(write, queries.items())] == ["answered"] * 3
    answers = [conversation(site.database, item_id).turns[0].answer for item_id in queries]
    assert [str(one).split()[0] for one in answers] == ["Cabins", "Four", "All"]


def test_a_returned_conversation_is_open_again(site: Site) -> None:
    """Its writer mends it and sends it once more."""
    for turn in (1, 2):
        asked(site, CABINS, turn)
        complete(site, turn)
    body = {"client_id": "s1", "item_id": "c1", "submitted": True}
    submit(site, ANN, body)
    site.database.append("rev", [Event("v", "label", "c1", "verdict", value="rejected")])
    assert state(site).state == "returned"
    assert asked(site, "And?", 3)["state"] == "answered"
    complete(site, 3)
    submit(site, ANN, {**body, "client_id": "s2"})
    assert state(site).state == "submitted"
    site.database.append("rev", [Event("v2", "label", "c1", "verdict", value="accepted")])
    with pytest.raises(PageError, match="has accepted"):
        take_back(site, ANN, {"client_id": "u", "item_id": "c1", "turn": 3})


def test_the_limits_of_calls_are_checked(tmp_path: Path) -> None:
    """No call at all is a mistake in the project's file."""
    folder = conversation_project(tmp_path / "p", extra="agent_calls: 0\n")
    with pytest.raises(ConfigError, match="agent_calls"):
        Project.open(folder)
