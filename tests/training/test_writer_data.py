"""What a question writer learns of one data set or several."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.ferries import LABELS, ferries

from ragstone.data.dataset import Dataset
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import ConfigError
from ragstone.training.writer_data import Curriculum, joined_sets, named_sets

LEARNED = Curriculum("taxonomy", LABELS)


def made(*queries: dict[str, object], qrels: tuple[tuple[str, str, int], ...]) -> Dataset:
    """Return a data set of two passages."""
    passages = [{"passage_id": p, "text": f"Text of {p}."} for p in ("a", "b")]
    return Dataset.from_records(queries=queries, passages=passages, qrels=qrels)


def test_a_lesson_has_the_flag_the_context_and_the_pair() -> None:
    """The context is the passage with its title."""
    [lesson, *_], without = LEARNED.lessons(ferries(count=1))
    assert lesson.prompt.startswith("<<fact_single>> Orle\nA boat leaves the old harbour of Orle")
    assert lesson.target == "When does the boat sail from Orle? <a> Monday, Orle"
    assert not without


def test_a_context_is_learned_once_per_label_and_the_rest_is_counted() -> None:
    """Each reason has its number."""
    asked = {"text": "Who?", "gold_answers": ["Ann"], "taxonomy": "summary"}
    dataset = made(
        {"query_id": "1", **asked},
        {"query_id": "2", **asked},
        {"query_id": "3", **asked, "taxonomy": "unanswerable"},
        {"query_id": "4", **asked, "gold_answers": []},
        {"query_id": "5", **asked},
        {"query_id": "6", "text": "Who?", "gold_answers": ["Ann"]},
        {"query_id": "7", **asked, "history": [{"role": "user", "text": "Hi"}]},
        qrels=(("1", "a", 1), ("1", "b", 2), ("2", "b", 1), ("4", "a", 1)),
    )
    lessons, without = LEARNED.lessons(dataset)
    assert [lesson.query_id for lesson in lessons] == ["1"]
    assert lessons[0].prompt.endswith("Text of b.")
    assert without == {
        "another query has their context and label": 1,
        "their taxonomy is unanswerable": 1,
        "they have no gold answer": 1,
        "they have no gold passage": 1,
        "they have no taxonomy": 1,
        "they are turns of a conversation": 1,
    }


def test_several_sets_become_one() -> None:
    """Equal passages are one, others with the same id get the name of their set."""
    one, same = ferries("one", 2), ferries("same", 1)
    other = replace(ferries("other", 1, first=5), name="other")
    records = [{"passage_id": "p0", "text": "Another text."}]
    query = {"query_id": "0", "text": "Who?", "gold_answers": ["Ann"], "taxonomy": "summary"}
    clash = Dataset.from_records(
        name="clash", queries=[query], passages=records, qrels=[("0", "p0", 1)]
    )
    whole, notes = joined_sets({d.name: d for d in (one, same, other, clash)}, LEARNED)
    assert sorted(p.passage_id for p in whole.corpus) == ["clash/p0", "p0", "p1", "p5"]
    assert whole.qrels["clash/0"] == {"clash/p0": 1}
    assert whole.qrels["same/0-summary"] == whole.qrels["one/0-summary"] == {"p0": 1}
    assert len(LEARNED.lessons(whole)[0]) == 7
    assert notes == ()


def test_one_set_keeps_its_ids() -> None:
    """They are those of the file."""
    whole, _ = joined_sets({"ferries": ferries()}, LEARNED)
    assert "0-summary" in whole.qrels


def test_nothing_to_learn_is_an_error_with_the_reasons() -> None:
    """The label and its values are named."""
    with pytest.raises(ConfigError, match=r"a kind among easy.*their kind|they have no kind"):
        joined_sets({"ferries": ferries()}, Curriculum("kind", ("easy",)))


def test_data_is_one_set_a_list_or_names(tmp_path: Path) -> None:
    """Two sets of one name need a mapping."""
    for folder in ("x/ferries", "y/ferries"):
        (tmp_path / folder).mkdir(parents=True)
        write_dataset(ferries(), tmp_path / folder)
    assert list(named_sets("x/ferries", tmp_path)) == ["ferries"]
    assert list(named_sets({"path": "x/ferries"}, tmp_path)) == ["ferries"]
    found = named_sets({"a": "x/ferries", "b": {"path": "y/ferries"}}, tmp_path)
    assert [(name, one.name) for name, one in found.items()] == [("a", "a"), ("b", "b")]
    with pytest.raises(ConfigError, match="two data sets are named 'ferries'"):
        named_sets(["x/ferries", "y/ferries"], tmp_path)
