"""Keeping events: once each, with a receipt, in SQLite and in a real PostgreSQL."""

from __future__ import annotations

from typing import Any

from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.keeping import Posted, Receipt, receipts_document
from ragstone.web import limits

ITEMS = {"q1", "q2"}


def label(client_id: str, value: Any = "yes", item_id: str = "q1", **more: Any) -> Event:
    """Return a label."""
    return Event(client_id, "label", item_id, "support", value=value, **more)


def kept(database: Database, person: str, *events: Event, is_owner: bool = False) -> list[Receipt]:
    """Keep events as the server does, and return their receipts."""
    (receipts,) = database.keep([Posted(person, events, is_owner)], ITEMS)
    return receipts


def test_the_requests_of_several_people_are_kept_in_their_order(database: Database) -> None:
    """One transaction has them all; each request gets its own receipts."""
    first, second = database.keep(
        [Posted("ann", [label("1"), label("2", "no")]), Posted("bea", [label("3")])], ITEMS
    )

    assert [one.kept and one.kept.sequence for one in (*first, *second)] == [1, 2, 3]
    assert [(one.person, one.value) for one in database.labels()] == [("ann", "no"), ("bea", "yes")]


def test_a_second_copy_is_confirmed_as_the_first_and_a_difference_is_told(
    database: Database,
) -> None:
    """The first copy counts, also if the second is of another person."""
    kept(database, "ann", label("1"))
    found = [
        *kept(database, "ann", label("1"), label("1", "no")),
        *kept(database, "bea", label("1")),
    ]

    assert receipts_document(found) == {
        "confirmed": [
            {"client_id": "1", "sequence": 1, "known": True},
            {"client_id": "1", "sequence": 1, "known": True, "differs": True},
            {"client_id": "1", "sequence": 1, "known": True, "differs": True},
        ]
    }
    assert [(one.person, one.value) for one in database.labels()] == [("ann", "yes")]
    assert database.count() == 1


def test_what_cannot_be_kept_gets_a_reason_and_the_rest_is_kept(database: Database) -> None:
    """An unknown item, a character that PostgreSQL cannot keep, a right that is missing."""
    bad = Event("4", "label", "q1", "sup\0port", value="yes")
    undo = Event("5", "undo", "q1", value="\0")
    (id_, item) = kept(database, "ann", label("\0"), label("0", item_id="q1\0"))
    assert (id_.kept, item.kept) == (None, None)
    withdraw = Event("6", "withdraw", "q2")
    found = kept(
        database, "ann", label("1"), label("2", item_id="q9"), bad, undo, withdraw, label("7", "no")
    )

    document = receipts_document(found)
    assert [one["client_id"] for one in document["confirmed"]] == ["1", "7"]
    nul = "a text contains the character NUL, which no database keeps"
    assert document["refused"] == [
        {"client_id": "2", "reason": "the project has no item 'q9'"},
        {"client_id": "4", "reason": nul},
        {"client_id": "5", "reason": nul},
        {"client_id": "6", "reason": "only an owner of the project withdraws an item"},
    ]
    assert [one.value for one in database.labels()] == ["no"]


def test_a_withdrawn_item_refuses_events_until_the_withdrawal_is_undone(database: Database) -> None:
    """What was kept before is confirmed again, for an outbox that did not get the answer."""
    kept(database, "ann", label("1"))
    withdrawn = kept(database, "owner", Event("2", "withdraw", "q1"), label("3"), is_owner=True)
    again = kept(database, "ann", label("1"), label("4", "no"), label("5", item_id="q2"))
    undone = kept(database, "owner", Event("6", "undo", "q1", value="2"), label("7"), is_owner=True)
    late = kept(database, "ann", label("4", "no"))

    reasons = [one.reason for one in (*withdrawn, *again, *undone, *late)]
    gone = "the item 'q1' was withdrawn"
    assert reasons == ["", gone, "", gone, "", "", "", ""]
    assert database.append("agent", [Event("8", "reply", "q1")])[0].sequence == 7


def test_an_undo_in_the_same_request_counts(database: Database) -> None:
    """Also of a skip, of an event that is undone already, and never of another person's."""
    kept(
        database,
        "ann",
        label("1"),
        label("2", "no"),
        Event("3", "undo", "q1", value="2"),
        Event("4", "undo", "q1", value="2"),
        Event("5", "skip", "q2", value="unclear"),
        Event("6", "undo", "q2", value="5"),
        Event("7", "undo", "q2", value="unknown"),
    )
    kept(database, "bea", Event("8", "undo", "q1", value="1"))

    assert [(one.item_id, one.value) for one in database.labels()] == [("q1", "yes")]
    assert database.undone("q1") == {"2"}


def test_a_label_without_a_value_removes_the_label(database: Database) -> None:
    """The event is kept, and an undo of it brings the label back."""
    kept(database, "ann", label("1"), label("2", None))
    assert list(database.labels()) == []
    kept(database, "ann", Event("3", "undo", "q1", value="2"))
    assert [one.value for one in database.labels()] == ["yes"]


def test_hostile_and_large_texts_come_back_as_they_were(database: Database) -> None:
    """Quotes, markup, right-to-left and deep values."""
    value = {
        "text": "'; DROP TABLE event; -- <b>\u202e\u05d0 \U0001f6a2 \0",
        "list": [1, 2.5, None],
    }
    kept(database, "o'ann", label("1", value, seconds=1.25, client_time="2099"))
    (event,) = database.events()

    assert event.event == label("1", value, seconds=1.25, client_time="2099")
    assert event.person == "o'ann"


def test_no_events_are_no_error(database: Database) -> None:
    """An empty request gets an empty answer."""
    assert kept(database, "ann") == []
    assert database.keep([]) == []


def test_an_annotator_decides_nothing(database: Database) -> None:
    """Also in another question's field; a reviewer's decision is kept."""
    decision = Event("1", "label", "q1", "adjudicated:support", value="no")
    (refused,) = database.keep([Posted("ann", [decision], False, False)], ITEMS)
    (given,) = database.keep([Posted("rea", [decision], False, True)], ITEMS)

    assert refused[0].reason == "only reviewers and owners decide what people disagree about"
    assert given[0].kept is not None


def test_an_undo_is_of_an_event_of_the_same_person_about_the_same_item(database: Database) -> None:
    """Else what refuses it by its item, such as a review, would be got round."""
    kept(database, "ann", label("1"), Event("2", "undo", "q1", value="1"), label("3"))
    found = [
        *kept(database, "ann", Event("4", "undo", "q2", value="3")),
        *kept(database, "bea", Event("5", "undo", "q1", value="3")),
        *kept(database, "ann", Event("6", "undo", "q1", value="2")),
    ]

    assert [one.reason for one in found] == [
        "the event '3' is about the item 'q1'; undo it there",
        "the event '3' is of another person, who may undo it",
        "an undo is not undone: label again",
    ]
    assert [one.sequence for one in database.labels()] == [3]


def test_the_whole_item_is_withdrawn_and_not_its_second_showing(database: Database) -> None:
    """A withdrawal of `q1#again` would have no effect."""
    (found,) = kept(database, "owner", Event("1", "withdraw", "q1#again"), is_owner=True)

    assert found.reason == "'q1#again' is a second showing: withdraw 'q1'"


def test_no_person_takes_the_id_of_a_draw(database: Database) -> None:
    """The server's draw would be taken for a second copy, and the item never be offered."""
    (found,) = kept(database, "ann", label("draw-1-5f"))
    (drawn,) = kept(database, "ragstone", Event("draw-1-5f", "draw", "q1", value={}))

    assert found.reason == "ids that begin with 'draw-' are those of the server"
    assert drawn.kept is not None


def test_a_label_whose_place_no_index_takes_is_refused(database: Database) -> None:
    """The others of its transaction are kept; PostgreSQL's index has 2,704 bytes for a row."""
    random = "".join(chr(0x4E00 + (n * n * 7919 + n) % 20_000) for n in range(500))
    long = Event("1", "label", "q1", random, random[::-1], value="yes")
    most = Event("2", "label", "q1", random, random[::-1][:320], value="yes")
    found = kept(database, "ann", long, most, label("3"))

    assert limits.LABEL_PLACE_BYTES == 2_500
    assert found[0].reason == "the item, person, field and part have 3,005 bytes, more than 2,500"
    assert sorted(one.sequence for one in database.labels()) == [1, 2]
