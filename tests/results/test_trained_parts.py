"""Trained parts in a record: sentences, marks and plain data."""

from __future__ import annotations

from ragstone.results.trained_parts import (
    TrainedPart,
    parts_of_system,
    trained_sentences,
    trained_systems,
)

GENERATOR = TrainedPart("a", "generator", seen=5, asked=40)
JUDGE = TrainedPart("idk", "judge", seen=1, asked=40)
UNSEEN = TrainedPart("b", "reranker", seen=0, asked=40)


def test_systems_that_have_seen_queries_are_marked() -> None:
    """Judges have a sentence, and their systems no mark."""
    parts = (GENERATOR, JUDGE, UNSEEN)

    assert trained_systems(parts) == {"a"}
    first, second = trained_sentences(parts)
    assert "the generator of a was trained on the questions or documents of 5 of 40" in first
    assert "judge idk was trained on the questions or documents of 1 of 40 queries (2.5%)" in second
    assert parts_of_system(parts, "b") == (JUDGE, UNSEEN)


def test_plain_data_has_no_path() -> None:
    """The base may be a folder of this machine."""
    found = TrainedPart("a", "generator", base="/home/me/weights", data={"name": "nq"}).to_dict()

    assert found["data"] == {"name": "nq"}
    assert "/home" not in found["base"]
    assert TrainedPart("a", "generator").sentence.count("0 of 0 queries (0.0%)") == 1
