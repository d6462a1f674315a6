"""Examples by people for a labeller."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.building.label_examples import LabelExample, chosen_examples, read_examples
from ragstone.building.labels import Labeller
from ragstone.components.judges.verdict import Item
from ragstone.errors import DatasetError
from ragstone.testing import ScriptedCalls
from ragstone.types import Query

MODEL = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
NAMES = ("fact_single", "summary", "reasoning", "unanswerable")
GOLD = {"q": Item(Query("q", "Who?"), "", ("Ann built it.",))}


def read(path: Path, text: str) -> list[LabelExample]:
    """Return the examples of a file with a text."""
    path.write_text(text, encoding="utf-8")
    return read_examples(path, NAMES, GOLD, "know-your-rag")


def test_examples_have_texts_or_an_id(tmp_path: Path) -> None:
    """The label is in the field `label`, or in one with the taxonomy's name."""
    found = read(
        tmp_path / "people.jsonl",
        '{"query": "Wann ä?", "context": "1840.", "label": "fact_single", "reason": "So."}\n'
        '{"query_id": "q", "know-your-rag": ["reasoning"]}\n',
    )
    assert found == [
        LabelExample("Wann ä?", ("1840.",), ("fact_single",), "So."),
        LabelExample("Who?", ("Ann built it.",), ("reasoning",)),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"query": "a", "context": "b", "label": "fact_singel"}', "did you mean 'fact_single'"),
        ('{"query": "a", "context": "b"}', "no label"),
        ('{"query_id": "x", "label": "summary"}', "no query 'x'"),
        ("", "has no example"),
    ],
)
def test_malformed_examples_are_refused(tmp_path: Path, line: str, said: str) -> None:
    """The message names the file, and the nearest label."""
    with pytest.raises(DatasetError, match=said) as caught:
        read(tmp_path / "people.jsonl", line)
    assert "people.jsonl" in str(caught.value)


def test_each_label_has_its_turn() -> None:
    """The same seed gives the same examples; the number is a maximum."""
    rows = [LabelExample(str(n), (), (label,)) for n, label in enumerate("aaaabbc")]
    chosen = chosen_examples(rows, 4, 0)
    assert sorted(one.labels[0] for one in chosen)[:3] in (["a", "a", "b"], ["a", "b", "b"])
    assert len({one.labels[0] for one in chosen}) == 3
    assert chosen == chosen_examples(rows, 4, 0)
    assert len(chosen_examples(rows, 9, 0)) == 7


@pytest.mark.parametrize("explain", [True, False])
def test_the_model_sees_examples_as_turns_and_no_example_is_labelled(*, explain: bool) -> None:
    """The cost of the examples is stated; an item that is an example needs no call."""
    example = LabelExample("When?", ("In 1840.",), ("fact_single",), "It says so.")
    plain = Labeller(model=MODEL, explain=explain)
    labeller = Labeller(model=MODEL, explain=explain, examples=(example,))
    calls = ScriptedCalls(lambda _: "Verdict: [[summary]]")
    items = [GOLD["q"], Item(Query("e", "When?"), "", ("In 1840.",))]
    verdicts = labeller.verdicts(items, calls.services())
    assert [(one.label, one.status) for one in verdicts] == [
        ("summary", "scored"),
        ("", "not_applicable"),
    ]
    (asked,) = calls.asked
    roles = [role for role, _ in asked.messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert "In 1840." in asked.messages[1][1]
    reply = "It says so.\nVerdict: [[fact_single]]" if explain else "fact_single"
    assert asked.messages[2][1] == reply
    assert labeller.example_tokens > 50
    assert plain.example_tokens == 0


def test_several_labels_are_one_yes_or_no_each() -> None:
    """The reply of an example has a line per label."""
    example = LabelExample("Why and how?", (), ("explanation", "how-to"))
    labeller = Labeller(model=MODEL, taxonomy="mtrag-question-types", examples=(example,))
    lines = labeller.shown_examples[1][1].splitlines()
    assert [n for n, line in enumerate(lines) if line.endswith("yes")] == [
        labeller.labels.index("explanation"),
        labeller.labels.index("how-to"),
    ]
