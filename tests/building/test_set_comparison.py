"""Two data sets side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import SharedData

from ragstone.building.set_comparison import SetComparison, compare_sets, distance_counts
from ragstone.building.set_properties import Facts
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset

Record = dict[str, object]


def talks(texts: list[list[str]], name: str = "talks") -> Dataset:
    """Return conversations whose users say these turns."""
    return Dataset.from_records(
        name=name,
        conversations=[
            {
                "conversation_id": f"c{number}",
                "turns": [{"user": text, "agent": "It is so."} for text in turns],
            }
            for number, turns in enumerate(texts)
        ],
    )


def differing(found: SetComparison) -> list[str]:
    """Return the properties that differ."""
    return [
        name for group in found.properties.values() for name, one in group.items() if one.differs
    ]


def test_a_set_equals_itself() -> None:
    """No difference, no distance, no claim; everything is in common."""
    sample = load_dataset("sample")
    found = compare_sets(sample, sample, people="both")
    properties = [one for group in found.properties.values() for one in group.values()]
    assert len(properties) > 30
    assert {one.difference for one in properties} == {0.0}
    assert differing(found) == []
    assert {(one.value, one.p) for one in found.distances.values()} == {(0.0, 1.0)}
    assert {one.a and one.a.mean for one in found.overlap.values()} == {1.0}
    assert found.notes == ["Both sets have the same queries."]


def test_simulated_users_are_told_from_people() -> None:
    """People write short turns, some without a question mark; the others ask whole questions."""
    people = talks([["where is it", "And in winter", "no, I mean the old one"]] * 12)
    model = talks([["Could you tell me where the bridge is located, please?"] * 2] * 12)
    found = compare_sets(people, model, people="first")
    turns = found.properties["conversations"]["turns"]
    assert (turns.a and turns.a.mean, turns.b and turns.b.mean, turns.difference) == (
        3.0,
        2.0,
        -1.0,
    )
    acts = found.properties["dialogue acts"]
    assert acts["question"].difference == pytest.approx(2 / 3)
    assert {"question", "short follow-up", "clarification"} <= set(differing(found))
    assert {one.p for one in found.distances.values()} == {1 / 1001}
    # Lengths 3, 3 and 6 against 10 and 10: the means are 6 apart.
    assert found.distances["turn length"].value == pytest.approx(6.0)
    assert found.distances["turn length, largest gap"].value == pytest.approx(1.0)
    assert found.distances["turn length"].n == (36, 24)


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        ("", "Neither set is marked as made by people (--people)."),
        ("none", "Neither set was made by people."),
        ("first", "The second set was not made by people."),
        ("second", "The first set was not made by people."),
    ],
)
def test_a_note_warns_of_simulated_users(people: str, sentence: str) -> None:
    """Unless people made both sets."""
    one = talks([["Who was it?"]])
    found = compare_sets(one, one, people=people)  # type: ignore[arg-type]
    assert found.notes[0].startswith(f"{sentence} Simulated users are known to be too friendly")
    assert not any("friendly" in note for note in compare_sets(one, one, people="both").notes)


def test_a_generated_set_is_known(tmp_path: Path) -> None:
    """`ragstone data generate` leaves its summary beside the set."""
    (tmp_path / "summary.json").write_text("{}")
    one = talks([["Who was it?"]])
    made = replace(one, source=replace(one.source, path=tmp_path))
    found = compare_sets(one, made)
    assert (found.a.people, found.b.people) == (None, False)
    assert found.notes[0].startswith("The second set was not made by people.")


def test_empty_sets_and_sets_without_conversations() -> None:
    """A property of one side only has no difference; the notes name the reason."""
    empty = Dataset.from_records(name="empty")
    plain = Dataset.from_records(queries=[{"query_id": "q", "text": "Who?"}])
    found = compare_sets(empty, talks([["Who was it?"], ["And who?"]]))
    turns = found.properties["conversations"]["turns"]
    assert (turns.a, turns.difference, turns.differs) == (None, None, False)
    assert found.distances == {}
    assert "The first set has no query." in found.notes
    assert compare_sets(empty, empty).properties == {}
    found = compare_sets(plain, talks([["Who was it?"]]))
    assert any(note.startswith("The first set has no conversations") for note in found.notes)


def test_sets_in_different_languages_are_not_compared_silently() -> None:
    """The note says that words and acts differ for that reason; the languages are shares."""
    english = "Where is the town that was built on the bank of the river, and who were its founders"
    german = "Wo liegt die Stadt, die an dem Ufer des Flusses gebaut wurde, und wer war es, der sie"
    found = compare_sets(
        talks([[f"{english} {n} and is that so"] for n in range(9)]),
        talks([[f"{german} {n} und ist das nicht so"] for n in range(9)]),
    )
    assert found.properties["language of the text"]["de"].difference == 1.0
    assert any("different languages (en, de)" in note for note in found.notes)


def test_many_queries_share_groups() -> None:
    """With 2,250 queries without conversations, two share a group on either side."""
    many = Dataset.from_records(
        queries=[{"query_id": f"q{n}", "text": f"Is {n} even?"} for n in range(1500)]
    )
    some = many.select(range(751))
    counted = distance_counts((Facts.of(many), Facts.of(some)))
    _, (a, b) = counted["dialogue acts"]
    assert (len(a), len(b)) == (750, 376)
    assert (a.sum(), b.sum(), a.sum(axis=1).max(), b.sum(axis=1).min()) == (1500, 751, 2, 1)


def test_queries_in_common_are_noted() -> None:
    """The sets are not independent then."""
    one = talks([["Who was it?"], ["And who are you then?"]])
    found = compare_sets(one, one.select([0]))
    assert "intervals of differences are too wide" in " ".join(found.notes)


def test_table_8_of_mtrag(shared_data: SharedData) -> None:
    """People's and synthetic conversations have the published properties, but for two figures.

    mtRAG printed 7.3 edited responses and 2.8 relevant passages: 7.245 and 2.739 are released.
    """
    folder = shared_data("mtrag")
    people = load_dataset(f"mtrag({folder}/conversations/mtrag_human_conversations.jsonl.gz)")
    synthetic = load_dataset(f"mtrag({folder}/synthetic/generation_tasks.jsonl.gz)")
    found = compare_sets(people, synthetic, people="first")
    assert (found.a.queries, found.b.queries) == (842, 1181)
    assert (found.a.conversations, found.b.conversations) == (110, 200)

    def figures(group: str, name: str) -> tuple[str, ...]:
        one = found.properties[group][name]
        return tuple(f"{side.mean:.1f}" if side else "-" for side in (one.a, one.b))

    assert figures("conversations", "turns") == ("7.7", "5.9")
    assert figures("conversations", "relevant passages") == ("16.9", "4.6")
    assert figures("conversations", "edited responses") == ("7.2", "-")
    assert figures("lengths", "words per query") == ("8.6", "13.7")
    assert figures("lengths", "words per answer") == ("97.2", "72.4")
    assert figures("lengths", "relevant passages per query") == ("2.7", "4.1")
    assert {one.p for one in found.distances.values()} == {1 / 1001}
    assert found.properties["conversations"]["turns"].differs
    assert not found.properties["label domain"]["govt"].differs
