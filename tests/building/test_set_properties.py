"""Properties of a data set, by hand."""

from __future__ import annotations

from typing import Any

from ragstone.building.set_properties import Facts, compared_labels, languages, properties, shares
from ragstone.data.dataset import Dataset


def turn(conversation: str, number: int, text: str, **fields: Any) -> dict[str, Any]:
    """Return the record of a turn."""
    place = {"conversation": conversation, "turn": number}
    return {"query_id": f"{conversation}::{number}", "text": text, **place, **fields}


def two_talks(**labels: Any) -> Dataset:
    """Return two conversations, of three turns and of one."""
    return Dataset.from_records(
        queries=[
            turn(
                "a", 1, "Where is Lisbon?", gold_answers=["In Portugal"], answerability="answerable"
            ),
            turn(
                "a",
                2,
                "And Porto",
                gold_answers=["no idea at all"],
                answerability="unanswerable",
                original_response="Porto is a wine.",
            ),
            turn(
                "a",
                3,
                "Tell me about the Douro",
                gold_answers=["A river of Porto here"],
                answerability="partial",
                original_response="A river",
                multi_turn="n/a",
            ),
            turn(
                "b",
                1,
                "how old is the bridge",
                gold_answers=["Old"],
                answerability="answerable",
                **labels,
            ),
        ],
        passages=[{"passage_id": p, "text": f"text {p}"} for p in "xyz"],
        qrels=[
            ("a::1", "x", 1),
            ("a::1", "y", 1),
            ("a::3", "y", 1),
            ("a::3", "z", 0),
            ("b::1", "z", 2),
        ],
    )


def test_means_by_hand() -> None:
    """Turns 3 and 1; passages {x, y} and {z}; 3 + 2 + 5 + 5 words; answers without the refusal."""
    found = properties(Facts.of(two_talks()))
    means = {name: one.mean for group in found.values() for name, one in group.items()}
    assert means["turns"] == 2.0
    assert means["relevant passages"] == 1.5
    assert means["edited responses"] == 1.0
    assert means["words per query"] == 15 / 4
    assert means["words per answer"] == (2 + 5 + 1) / 3
    assert means["relevant passages per query"] == (2 + 1 + 1) / 3
    assert [means[act] for act in ("question", "short follow-up", "statement")] == [0.5, 0.25, 0.25]


def test_intervals_are_over_conversations() -> None:
    """Two conversations: the interval is that of two items."""
    found = properties(Facts.of(two_talks()))
    assert found["conversations"]["turns"].interval == (1.0, 3.0)


def test_what_a_set_does_not_have_is_left_out() -> None:
    """No conversation, no edited response, no judgement, no query."""
    plain = Dataset.from_records(queries=[{"query_id": "q", "text": "Who was it?"}])
    found = properties(Facts.of(plain))
    assert list(found) == ["lengths", "dialogue acts"]
    assert list(found["lengths"]) == ["words per query"]
    assert properties(Facts.of(Dataset.from_records())) == {}


def test_labels_with_few_texts_are_compared() -> None:
    """`answerable` is `answerability`; places, numbers, long lists and n/a are not compared."""
    many = Dataset.from_records(
        queries=[
            {
                "query_id": f"q{n}",
                "text": "?",
                "answerable": n > 3,
                "note": f"n{n}",
                "size": n,
                "kinds": ["x", "y"],
            }
            for n in range(30)
        ]
    )
    sides = Facts.of(two_talks(domain="bridges")), Facts.of(many)
    labels = compared_labels(sides)
    assert labels == {
        "answerability": ["answerable", "partial", "unanswerable"],
        "domain": ["bridges"],
        "kinds": ["x", "y"],
    }
    found = shares(sides[1], sides[1].values("answerability"), labels["answerability"])
    assert [one.mean for one in found.values()] == [26 / 30, 0.0, 4 / 30]
    assert shares(sides[0], sides[0].values("kinds"), ["x", "y"]) == {}


def test_the_language_is_that_of_the_whole_conversation() -> None:
    """A turn of two words has the language of its conversation; an unknown one has none."""
    words = "Where is the town of Lisbon and how do the people that live there get to the river"
    data = Dataset.from_records(
        queries=[
            turn("a", 1, f"{words}, which was the end of it?"),
            turn("a", 2, "Ok"),
            turn("b", 1, "1"),
        ]
    )
    assert languages(Facts.of(data)) == [("en",), ("en",), ()]
