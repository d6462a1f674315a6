"""The steps of a reply: every accepted form, and errors that name the step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from ragstone.core import limits
from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.data.readers.reported import passages_of, read_reported
from ragstone.data.readers.rows import FieldError
from ragstone.errors import DatasetError
from ragstone.types import Hop, Passage

STEPS: list[dict[str, Any]] = [
    {"query": "Which ship?", "passages": ["p3", {"id": "p9", "text": "A ship.", "score": 7.5}]},
    {"query": "When?", "passage_ids": ["p 9"], "tokens": 120, "latency_s": 1},
    {"query": "Where?", "contexts": ["Sea", "It sank at sea."]},
]


def read_steps(row: dict[str, Any]) -> tuple[Hop, ...] | None:
    """Return the steps of a reply."""
    return cast("tuple[Hop, ...] | None", read_reported(row)["steps"])


def test_every_form_of_a_passage_is_read() -> None:
    """Texts, ids and objects; a text without white space in `passages` is an id."""
    first, second, third = read_steps({"steps": STEPS}) or ()

    assert first == Hop("Which ship?", (Passage("p3", ""), Passage("p9", "A ship.")))
    assert second == Hop("When?", (Passage("p 9", ""),), 120, 1.0)
    assert third.passages == (Passage("", "Sea"), Passage("", "It sank at sea."))
    assert read_steps({"steps": json.dumps(STEPS)}) == (first, second, third)
    assert read_steps({"steps": (first,)}) == (first,)
    assert read_steps({"steps": []}) == ()
    assert read_steps({}) is read_steps({"steps": None}) is read_steps({"steps": ""}) is None


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("[{", r"'steps' must be a list of objects, found '\[\{'"),
        ({"query": "When?"}, "'steps' must be a list of objects"),
        (["When?"], "step 1: expected a JSON object, found 'When[?]'"),
        ([STEPS[0], {"query": "When?"}], "step 2: expected one of .*, found 'query'"),
        ([{**STEPS[0], "contexts": []}], "found 'passages' and 'contexts'"),
        ([{"query": "When?", "passages": "p1"}], "'passages' must be a list"),
        ([{"query": "When?", "passages": [""]}], "an item of 'passages' must be a text"),
        ([{"query": "When?", "passages": [{"score": 1}]}], "with 'text', 'id' or both"),
        ([{"query": 1, "passages": []}], "'query' must be text"),
        ([{"passages": [], "tokens": 1.5}], "'tokens' must be a whole number"),
        ([{"passages": [], "latency_s": -1}], "'latency_s' must be a number of 0 or more"),
        ([{"passages": [], "latency_s": float("inf")}], "'latency_s' must be a number"),
    ],
)
def test_another_form_is_an_error_that_names_the_step(steps: Any, said: str) -> None:
    """The message has the step, the field and what was found."""
    with pytest.raises(FieldError, match=said):
        read_steps({"steps": steps})


def test_a_loop_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """More steps than `MAX_STEPS`."""
    monkeypatch.setattr(limits, "MAX_STEPS", 2)

    assert len(read_steps({"steps": STEPS[:2]}) or ()) == 2
    with pytest.raises(FieldError, match="'steps' has 3 items, more than 2"):
        read_steps({"steps": STEPS})


def test_the_context_of_steps_has_each_passage_once_and_with_its_text() -> None:
    """In order of the first step that found it."""
    given = [
        Hop("", (Passage("p2", ""), Passage("", "A text."))),
        Hop("", (Passage("p1", "One."), Passage("p2", "Two."), Passage("", "A text."))),
    ]

    assert passages_of(given) == (
        Passage("p2", "Two."),
        Passage("", "A text."),
        Passage("p1", "One."),
    )


def test_rows_have_the_steps_and_their_passages_as_context(tmp_path: Path) -> None:
    """Reported contexts count before steps; an id without a text gives no known context."""
    shown = {"query": "Who?", "contexts": ["A text.", "Another."]}
    rows = [
        {"query_id": "q1", "answer": "a", "steps": [shown, shown]},
        {"query_id": "q2", "answer": "a", "steps": [shown], "contexts": ["Mine."]},
        {"query_id": "q3", "answer": "a", "steps": [STEPS[0]]},
        {"query_id": "q4", "answer": "a"},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))

    found = read_answer_rows(path).of("")

    texts = {q: [p.text for p in context.passages] for q, context in found.contexts.items()}
    assert texts == {"q1": ["A text.", "Another."], "q2": ["Mine."]}
    assert found.predictions["q3"].passage_ids == ("p3", "p9")
    assert [len(one.steps or ()) for one in found.predictions.values()] == [2, 1, 1, 0]
    assert "steps" not in found.queries[0].labels
    path.write_text(json.dumps({"query_id": "q1", "answer": "a", "steps": 3}))
    with pytest.raises(DatasetError, match="line 1: 'steps' must be a list of objects, found 3"):
        read_answer_rows(path)
