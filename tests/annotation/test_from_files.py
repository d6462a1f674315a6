"""Items of files: tables, ratings to fill in, projects and findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.annotation.create import ProjectPlan, make_project
from ragstone.annotation.from_files import ReadFile, finding_items, read_file
from ragstone.annotation.items import AnnotationItem
from ragstone.data.dataset import Dataset
from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage, Query

DATA = Dataset.from_records(
    queries=[{"query_id": "q1", "text": "When does it sail?", "gold_answers": ["at six"]}],
    passages=[{"passage_id": "p1", "text": "At six."}, {"passage_id": "p2", "text": "At 6."}],
    qrels=[("q1", "p1", 1)],
)


def read(folder: Path, *rows: dict[str, Any]) -> ReadFile:
    """Return what a file of some rows has."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return read_file(path)


def test_ratings_to_fill_in_are_items(tmp_path: Path) -> None:
    """The form of `build mirage`: its `answers` are gold answers, its text is a passage."""
    found = read(
        tmp_path,
        {
            "query_id": "q1",
            "passage_id": "p1",
            "property": "support",
            "values": ["yes", "no"],
            "query": "When does it sail?",
            "answers": ["at six"],
            "title": "Times",
            "text": "At six.",
        },
    )
    query = Query("q1", "When does it sail?", ("at six",))
    passage = Passage("p1", "At six.", "Times")

    assert found.items == [AnnotationItem("q1 p1", query, (passage,))]
    assert found.task == "support"


def test_names_without_texts_keep_how_they_were_drawn(tmp_path: Path) -> None:
    """The lines of `judge next` name answers, those of labels may name passages."""
    drawn = {"inclusion_probability": 0.25, "round": 2}
    answer = {"query_id": "q1", "system": "a", "setting": "gold", "property": "F1", "value": None}
    found = read(tmp_path, {**answer, "rater": "", **drawn})
    assert found.answers == {("q1", "a", "gold"): Inclusion(0.25, 2)}

    found = read(tmp_path, {"query_id": "q1", "passage_id": "p1", **drawn})
    assert found.pairs == {"q1": {"p1": Inclusion(0.25, 2)}}


def test_a_table_and_flat_answers_are_items(tmp_path: Path) -> None:
    """A CSV of a spreadsheet, and the flat form of earlier projects."""
    (tmp_path / "t.csv").write_text("query,context\nWhen?,At six.\nWhere?,Pier 1\n")
    items = read_file(tmp_path / "t.csv").items
    assert [(one.item_id, one.passages[0].text) for one in items] == [
        ("2", "At six."),
        ("3", "Pier 1"),
    ]

    flat = {"item_id": "i", "query_id": "q1", "query": "When?", "system": "a", "answer": "At six."}
    (item,) = read(tmp_path, flat).items
    assert [(one.system, one.text) for one in item.answers] == [("a", "At six.")]


def test_nuggets_of_trec_are_items(tmp_path: Path) -> None:
    """The statements of a query are its parts."""
    nuggets = [{"text": "It sank in 1912.", "importance": "vital"}]
    found = read(tmp_path, {"qid": "q1", "query": "When did it sink?", "nuggets": nuggets})

    assert found.task == "nuggets"
    assert found.items[0].parts == ("It sank in 1912.",)


def test_a_project_gives_its_items(tmp_path: Path) -> None:
    """Such as one that `ragstone view` wrote."""
    items = [AnnotationItem("q1", DATA.queries[0])]
    make_project(tmp_path / "p", ProjectPlan("validation"), items)

    assert read_file(tmp_path / "p") == ReadFile(items=items, task="validation")
    with pytest.raises(ConfigError, match="--data"):
        read_file(tmp_path)


def test_findings_that_people_decide_are_items(tmp_path: Path) -> None:
    """Rows and pairs get the texts of the data set; lines have none."""
    findings = [
        {"check": "duplicates/passages", "what": "1 pair", "remedy": "person",
         "pairs": [["p1", "p2"]], "rows": ["p1", "p2"]},
        {"check": "answers/absent", "what": "1 of 1", "remedy": "person", "rows": ["q1"]},
        {"check": "lines", "what": "1 line", "remedy": "person", "rows": ["line 3"]},
        {"check": "fixable", "what": "1", "remedy": "fix", "rows": ["q1"]},
    ]  # fmt: skip
    (tmp_path / "found.json").write_text(json.dumps({"name": "x", "findings": findings}))
    found = read_file(tmp_path / "found.json")
    items = list(finding_items(DATA, found.findings))

    assert [one.item_id for one in items] == ["duplicates/passages p1 p2", "answers/absent q1"]
    assert [p.passage_id for p in items[0].passages] == ["p1", "p2"]
    assert items[1].query.labels["finding"] == "answers/absent: 1 of 1"
    assert items[1].passages[0].passage_id == "p1"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"query_id": "q1"}, "line 1: there is nothing to label"),
        ({"query": ""}, "line 1: the field 'query' is empty"),
        ({"text": "x"}, "line 1: a row needs 'query'"),
    ],
)
def test_malformed_rows_name_their_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    """The error has the file and the line."""
    with pytest.raises(DatasetError, match=said):
        read(tmp_path, row)


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    """There is nothing to label."""
    with pytest.raises(DatasetError, match="no row to label"):
        read(tmp_path)
