"""Pairs of a query and a context to label."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.building.label_files import read_label_sets
from ragstone.building.label_pairs import pair_rows, read_pairs, run_pairs, sampled
from ragstone.data.dataset import Dataset
from ragstone.errors import DatasetError
from ragstone.types import Ranking

DATA = Dataset.from_records(
    queries=[{"query_id": "q", "text": "Who?"}, {"query_id": "r", "text": "When?"}],
    passages=[{"passage_id": name, "text": f"text {name}"} for name in "abc"],
)


def test_pairs_of_a_file(tmp_path: Path) -> None:
    """A context is a text or a list; ids are kept, or else the number of the line counts."""
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"query": "Who?", "context": "Ann."}\n'
        '{"_id": "x", "query": "Wer ä?", "context": ["A", "B"], "query_id": "q"}\n',
        encoding="utf-8",
    )
    first, second = read_pairs(path)
    assert (first.item.item_id, first.item.query.text, first.item.passages) == (
        "1",
        "Who?",
        ("Ann.",),
    )
    assert (second.item.item_id, second.item.passages) == ("x", ("A", "B"))
    assert second.ids == {"query_id": "q"}
    assert sampled([first, second], 1, 0) in ([first], [second])
    assert sampled([first, second], None, 0) == [first, second]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"query": "Who?"}', "context"),
        ('{"context": "A"}', "query"),
        ("", "has no pair"),
        ('{"_id": 1, "query": "a", "context": "b"}\n{"_id": 1, "query": "a", "context": "b"}', "1"),
    ],
)
def test_malformed_pairs_are_refused(tmp_path: Path, line: str, said: str) -> None:
    """The message names the file and the field."""
    path = tmp_path / "pairs.jsonl"
    path.write_text(line)
    with pytest.raises(DatasetError, match=said) as caught:
        read_pairs(path)
    assert "pairs.jsonl" in str(caught.value)


def test_pairs_of_a_run() -> None:
    """Each query has a pair with each of its first passages, which label files keep apart."""
    found = run_pairs(
        DATA, {"q": Ranking(["b", "a", "c"], [3, 2, 1]), "other": Ranking(["a"], [1])}, 2
    )
    assert [pair.item.item_id for pair in found] == ["q b", "q a"]
    assert found[0].item.passages == ("text b",)
    rows = pair_rows(found, iter([{"query_id": "q b", "label": "x"}, {"query_id": "q a"}]))
    assert next(rows) == {"item_id": "q b", "query_id": "q", "passage_id": "b", "label": "x"}
    with pytest.raises(DatasetError, match="no ranking of a query"):
        run_pairs(DATA, {"other": Ranking(["a"], [1])}, 2)
    with pytest.raises(DatasetError, match="does not contain"):
        run_pairs(DATA, {"q": Ranking(["z"], [1])}, 2)


def test_pairs_of_one_query_are_different_items_in_a_file_of_labels(tmp_path: Path) -> None:
    """Two passages of a query may have different labels."""
    path = tmp_path / "labels.jsonl"
    path.write_text(
        '{"item_id": "q a", "query_id": "q", "passage_id": "a", "label": "yes"}\n'
        '{"item_id": "q b", "query_id": "q", "passage_id": "b", "label": "no"}\n'
    )
    assert read_label_sets(path) == {"q a": ("yes",), "q b": ("no",)}
