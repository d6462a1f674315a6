"""The lines of items: written and read back equal; mistakes have file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_results import HOSTILE

from ragstone.annotation.items import AnnotationItem, ShownAnswer, item_line, read_items
from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import DatasetError
from ragstone.types import Message, Passage, Query


def test_items_come_back_equal(tmp_path: Path) -> None:
    """All fields, hostile texts, labels named like fields, and how answers were drawn."""
    text = " ".join(HOSTILE)
    query = Query(
        "q1", text, (text, ""), (Message("agent", text),), "rewrite",
        {"round": 3, "passages": "p", "tags": ("a", "b"), "ok": True},
    )  # fmt: skip
    answers = (
        ShownAnswer("a", "gold", "", passage_ids=("p1",), inclusion=Inclusion(0.5, 2)),
        ShownAnswer("b", "", None, "timeout"),
    )
    item = AnnotationItem(
        "i 1", query, (Passage("p1", "", "title"),), answers, ("one",),
        {"support": "yes"}, {"support": "no"}, Inclusion(1.0),
    )  # fmt: skip
    plain = AnnotationItem("i2", Query("i2", "?"))
    (tmp_path / "items.jsonl").write_bytes(item_line(item) + item_line(plain))

    assert list(read_items(tmp_path / "items.jsonl")) == [item, plain]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"item_id": "i", "query": "?", "answers": [{"system": "a"}, {"system": "a"}]}', "two an"),
        ('{"item_id": "i", "query": "?", "inclusion_probability": 2}', "above 0 and at most 1"),
        ('{"item_id": "i", "query": "?", "passages": [{"text": "x"}]}', "'passage_id' is missing"),
    ],
)
def test_mistakes(tmp_path: Path, line: str, said: str) -> None:
    """The error names the line."""
    (tmp_path / "items.jsonl").write_text(line)
    with pytest.raises(DatasetError, match=f"line 1.*{said}"):
        list(read_items(tmp_path / "items.jsonl"))
