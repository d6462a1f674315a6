"""The sample of labelled chunks for people."""

from __future__ import annotations

from pathlib import Path

import orjson

from ragstone.building.mirage import Mapped
from ragstone.building.support_sample import support_sample
from ragstone.data.readers.ratings import read_ratings
from ragstone.types import Passage, Query


def test_the_models_labels_are_ratings_and_people_see_the_texts(tmp_path: Path) -> None:
    """`labels.jsonl` is read as ratings; a chunk without a verdict is only in `to-label.jsonl`."""
    query = Query("q", "Which river?", ("Tagus",))
    chunks = [Passage("a", "On the Tagus.", "Tagus"), Passage("b", "Hills.")]
    one = Mapped(query, "set", "Tagus", chunks=chunks, supporting={"a": True, "b": None})
    files = support_sample([one], "a-model", seed=0)
    (tmp_path / "labels.jsonl").write_bytes(files["labels.jsonl"])
    (rating,) = read_ratings(tmp_path / "labels.jsonl")
    assert (rating.rater, rating.value, rating.item.passage_id) == ("a-model", "yes", "a")
    shown = [orjson.loads(line) for line in files["to-label.jsonl"].splitlines()]
    assert [row["text"] for row in shown] == ["On the Tagus.", "Hills."]


def test_without_queries_there_are_no_files() -> None:
    """An empty benchmark has no sample."""
    assert support_sample([], "a-model", seed=0) == {}
