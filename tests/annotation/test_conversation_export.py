"""Reviewed conversations as files, read back by the package's own readers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import SharedData
from tests.fakes.review_project import accept, label, opened, review_project

from ragstone.annotation.conversation import conversation
from ragstone.annotation.conversation_export import (
    conversation_dataset,
    write_conversation_dataset,
    write_mtrag,
)
from ragstone.annotation.conversation_import import conversation_items, keep_conversations
from ragstone.annotation.database import Database
from ragstone.annotation.project import Project
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.mtrag import MtragReader
from ragstone.errors import DatasetError

REAL = "conversations/mtrag_human_conversations.jsonl.gz"


def content(dataset: Dataset) -> tuple[Any, ...]:
    """Return the queries, the relevant passages and the texts of a data set."""
    relevant = {q: {p for p, g in of.items() if g} for q, of in dataset.qrels.items()}
    queries = [
        replace(one, labels={k: v for k, v in one.labels.items() if k != "gold_passages"})
        for one in dataset.queries
    ]
    return (
        queries,
        {q: p for q, p in relevant.items() if p},
        {p.passage_id: p.text for p in dataset.corpus},
    )


@pytest.fixture
def project(tmp_path: Path) -> Any:
    """Yield a project of two conversations and its database; the first one is accepted."""
    with opened(review_project(tmp_path / "boats")) as found:
        accept(found[1], "bob", "night-boats", 3)
        yield found


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_mtrags_form_comes_back_equal(
    project: tuple[Project, Database], tmp_path: Path, name: str
) -> None:
    """From the file to events and to a file again, both read by the reader of mtRAG."""
    accept(project[1], "bob", "day-boats", 2)
    source = project[0].folder / "conversations.json"
    digest = write_mtrag(*project, tmp_path / name)

    assert content(MtragReader(tmp_path / name).read()) == content(MtragReader(source).read())
    assert write_mtrag(*project, tmp_path / f"again-{name}") == digest
    with pytest.raises(DatasetError, match="already exists"):
        write_mtrag(*project, tmp_path / name)
    rows = json.loads((tmp_path / "out.json").read_text()) if name == "out.json" else []
    for row in rows:
        assert (row["author"], row["reviewer"], row["status"]) == ("import", "bob", "accepted")


def test_an_export_is_imported_again_as_it_was(
    project: tuple[Project, Database], tmp_path: Path
) -> None:
    """Texts, labels and the marks that count, in a second project."""
    write_mtrag(*project, tmp_path / "out.json")
    second = Database.open(f"sqlite:///{tmp_path / 'b.db'}", "second")
    keep_conversations(second, conversation_items(tmp_path / "out.json"))

    before, after = (conversation(one, "night-boats").turns for one in (project[1], second))
    second.close()
    for one, other in zip(before, after, strict=True):
        assert (one.query, one.answer, one.final_answer) == (
            other.query,
            other.answer,
            other.final_answer,
        )
        assert (one.labels, one.relevance) == (other.labels, other.relevance)


def test_all_three_texts_and_the_votes_of_people_are_in_the_file(
    project: tuple[Project, Database], tmp_path: Path
) -> None:
    """The agent's, the writer's and the reviewer's; without names people are numbered."""
    item = "night-boats"
    project[1].append("bob", [label(item, "verdict", "", None)])
    texts = [label(item, "answer", "1", "At 1."), label(item, "relevance", "1/boats-2", "yes")]
    project[1].append("bob", [*texts, label(item, "verdict", "", "accepted", 2)])
    found = {}
    for names in (True, False):
        path = tmp_path / f"{names}.json"
        write_mtrag(*project, path, names=names)
        found[names] = json.loads(path.read_text())[0]

    answer = found[True]["messages"][1]
    assert answer["text"] == "At 1."
    assert answer["written_text"] == "It sails at 1 sharp."
    assert answer["original_text"] == "It sails at 2 sharp, and pets are welcome."
    votes = answer["contexts"][1]["feedback"]["relevant"]
    assert {who: vote["value"] for who, vote in votes.items()} == {"import": "no", "bob": "yes"}
    assert found[False]["author"] == "person 1"
    assert "bob" not in json.dumps(found[False])


def test_a_data_set_has_what_the_reader_of_mtrag_finds(
    project: tuple[Project, Database], tmp_path: Path
) -> None:
    """Queries with history, final answers, marks and labels; judged passages too."""
    accept(project[1], "bob", "day-boats", 2)
    source = MtragReader(project[0].folder / "conversations.json").read()
    digest = write_conversation_dataset(*project, tmp_path / "set")
    found = load_dataset(tmp_path / "set")

    assert content(found) == content(source)
    assert found.qrels["night-boats<::>1"] == {"boats-1": 1, "boats-2": 0}
    assert write_conversation_dataset(*project, tmp_path / "again") == digest
    with pytest.raises(DatasetError, match="already exists"):
        write_conversation_dataset(*project, tmp_path / "set")


def test_a_rejected_turn_is_no_query_but_stays_in_the_history(
    project: tuple[Project, Database], tmp_path: Path
) -> None:
    """Later turns were written after it; in mtRAG's form it has the label of the decision."""
    item = "night-boats"
    project[1].append("bob", [label(item, "verdict", "", None)])
    given = [label(item, "reason", "2", "no"), label(item, "decision", "2", "reject")]
    project[1].append("bob", [*given, label(item, "verdict", "", "accepted", 2)])
    found = conversation_dataset(*project)
    write_mtrag(*project, tmp_path / "out.json")

    assert [one.turn for one in found.queries] == [1, 3]
    assert len(found.queries[1].history) == 4
    labels = [
        one.labels.get("decision") for one in MtragReader(tmp_path / "out.json").read().queries
    ]
    assert labels == [None, "reject", None]


def test_only_accepted_conversations_are_written_unless_all_are_wanted(
    project: tuple[Project, Database], tmp_path: Path
) -> None:
    """Nothing accepted is an error with a way out."""
    assert len(conversation_dataset(*project).queries) == 3
    assert len(conversation_dataset(*project, every=True).queries) == 5
    project[1].append("bob", [label("night-boats", "verdict", "", None)])

    with pytest.raises(DatasetError, match="is accepted by a reviewer; review some, or export"):
        write_mtrag(*project, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_passages_without_a_mark_are_not_relevant(
    project: tuple[Project, Database], tmp_path: Path
) -> None:
    """Readers take all passages of a conversation without any vote for relevant."""
    marks = list(project[1].labels(field="relevance"))
    for one in marks:
        project[1].append(one.person, [label(one.item_id, "relevance", one.part, None)])
    write_mtrag(*project, tmp_path / "out.json")

    assert MtragReader(tmp_path / "out.json").read().qrels == {}


def test_all_of_mtrag_comes_back_equal(shared_data: SharedData, tmp_path: Path) -> None:
    """842 turns with 2,128 relevant passages: as mtRAG's form, and as a data set."""
    source = shared_data("mtrag") / REAL
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "mtrag")
    imported = conversation_items(source)
    keep_conversations(database, imported)
    project: Any = SimpleNamespace(name="mtrag", items={one.item_id: one for one in imported.items})
    for item_id in project.items:
        database.append("bob", [label(item_id, "verdict", "", "accepted")])
    wanted = MtragReader(source).read()

    write_mtrag(project, database, tmp_path / "out.jsonl")
    read = MtragReader(tmp_path / "out.jsonl").read()
    assert read.queries == wanted.queries
    assert read.qrels == wanted.qrels
    assert list(read.corpus) == list(wanted.corpus)
    assert content(conversation_dataset(project, database)) == content(wanted)
    database.close()
