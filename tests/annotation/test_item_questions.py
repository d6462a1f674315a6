"""What a person is asked about an item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.blind import Blind
from ragstone.annotation.item_questions import AskedQuestion, asked_questions

ANSWERS = [{"system": "bm25", "answer": "At six."}, {"system": "dense", "answer": "At ten."}]


def asked(folder: Path, item: dict[str, Any], given: Any = None, **settings: Any) -> Any:
    """Return the questions about an item to `ann`, and her view of its answers."""
    with made_site(folder, [{**plain_items(1)[0], **item}], **settings) as (site, _):
        blind = Blind(site.project, "ann", "q0")
        item_read = site.project.items["q0"]
        return asked_questions(site.project, item_read, blind, given or {}), blind


def test_each_scale_of_each_answer_is_a_question(tmp_path: Path) -> None:
    """Answer by answer in the drawn order, with the labels of the person."""
    given = {("naturalness", "dense"): 2}
    found, blind = asked(tmp_path, {"answers": ANSWERS}, given, task="ratings")
    assert len(found) == 8
    assert [one.part for one in found] == [token for token in sorted(blind.parts) for _ in range(4)]
    assert {one.about for one in found} == {"Answer 1", "Answer 2"}
    mine = [one for one in found if one.given is not None]
    assert [(one.field, one.part) for one in mine] == [("naturalness", blind.tokens["dense"])]
    assert found[0].is_scale


def test_options_of_a_pair_are_left_and_right(tmp_path: Path) -> None:
    """Their values are tokens; a label and a suggestion point to the same answers."""
    found, blind = asked(
        tmp_path,
        {"answers": ANSWERS, "suggested": {"better": "b"}},
        {("better", ""): "a"},
        task="pairwise",
        suggestions="before",
    )
    question: AskedQuestion = found[0]
    assert [one.value for one in question.options] == [blind.sides[0], "tie", blind.sides[1]]
    assert blind.parts[question.given] == "bm25"
    assert blind.parts[question.suggested] == "dense"
    assert question.shown == "before"


def test_suggestions_are_left_out_if_they_are_never_shown(tmp_path: Path) -> None:
    """One without a suggestion says that none was shown."""
    found, _ = asked(tmp_path / "never", {"suggested": {"support": "yes"}})
    assert (found[0].suggested, found[0].shown) == (None, "never")
    found, _ = asked(tmp_path / "after", {"suggested": {"support": "yes"}}, suggestions="after")
    assert (found[0].suggested, found[0].shown) == ("yes", "after")
    found, _ = asked(tmp_path / "none", {}, suggestions="after")
    assert found[0].shown == "never"


def test_texts_start_with_the_query_and_the_gold_answer(tmp_path: Path) -> None:
    """The questions of generated queries."""
    found, _ = asked(tmp_path, {}, task="validation")
    starts = {one.field: one.start for one in found if one.kind == "text"}
    assert starts == {"query": "When does ferry 0 sail?", "answer": "at six"}
