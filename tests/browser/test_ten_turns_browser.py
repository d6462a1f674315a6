"""Ten turns with a live agent on mtRAG's passages, exported and evaluated as a data set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.annotate_conversation import (
    TURNS,
    evaluated,
    exported,
    make_project,
    serving,
    ten_turns,
    write,
)

from ragstone.data.load import load_dataset
from ragstone.types import Conversation

if TYPE_CHECKING:
    from tests.conftest import SharedData


def test_ten_turns_are_written_exported_and_evaluated(
    browser: Any, shared_data: SharedData, tmp_path: Path
) -> None:
    """The exported data set has the queries, the histories, the labels and the marks."""
    source = {"name": "mtrag", "path": str(shared_data("mtrag")), "domains": "govt"}
    data = load_dataset(source)
    talk = ten_turns(data)
    project = make_project(tmp_path / "ten-turns", json.dumps(source), talk)
    with serving(project.folder) as address:
        page = browser.new_page()
        page.goto(address)
        write(page, talk, data)
        page.close()
    folder, scores = exported(project)
    assert [number for number, score in enumerate(scores, 1) if score] == [3, 6, 9]
    found = load_dataset(str(folder))
    (written,) = Conversation.of(found.queries)
    assert [one.text for one in written.turns] == [one.text for one in talk.turns]
    for number, (new, old) in enumerate(zip(written.turns, talk.turns, strict=True)):
        assert len(new.history) == 2 * number
        assert new.labels["answerability"] == old.labels["answerability"]
        assert new.labels["question_type"] == old.labels["question_type"]
        relevant = {i for i, grade in found.qrels.get(new.query_id, {}).items() if grade > 0}
        assert relevant <= set(data.qrels.get(old.query_id, {}))
    assert written.turns[2].gold_answers[0] == talk.turns[2].gold_answers[0].strip()
    assert f"{TURNS} of {TURNS} queries" in evaluated(project, folder)
