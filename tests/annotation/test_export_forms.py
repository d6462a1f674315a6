"""Labels as files: InspectorRAGet's JSON, qrels and data sets, each read back by its reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.annotation.test_rating_export import PASSAGE, QUERY, A, B, give, project

from ragstone.annotation.export_forms import Export, digest_of, write_export
from ragstone.annotation.items import AnnotationItem
from ragstone.data.load import load_dataset
from ragstone.data.readers.rated_layouts import read_rated
from ragstone.data.readers.ratings import RatedItem
from ragstone.data.readers.trec import read_qrels
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage, Query

PAIRS = [AnnotationItem(f"q1 {p}", QUERY, (Passage(p, f"text {p}"),)) for p in ("p1", "p2", "p3")]


def test_inspector_is_read_as_ratings_of_people(tmp_path: Path) -> None:
    """Answers, ratings by their raters and the scale come back."""
    made, database = project(tmp_path, "ratings", AnnotationItem("q1", QUERY, (PASSAGE,), (A, B)))
    for person, points in (("ann", 4), ("ben", 2)):
        give(database, person, ("q1", "faithfulness", "b · gold", points))
    (path,) = write_export(Export(made, database, tmp_path / "i.json"), "inspector")

    read = read_rated(path)
    assert [(one.rater, one.value) for one in read.ratings] == [("ann", 4.0), ("ben", 2.0)]
    assert read.ratings[0].item == RatedItem("q1", "b · gold")
    assert read.texts[read.ratings[0].item].answer == "At 6."
    assert read.scales["faithfulness"].low == 1


def test_qrels_have_the_grade_that_counts(tmp_path: Path) -> None:
    """The median of the points, the lower one if it is between two; words have grades too."""
    made, database = project(tmp_path, "labels", *PAIRS)
    for person, points in (("ann", (3, 1)), ("ben", (2, 1))):
        labels = [(f"q1 p{n}", "relevance", "", one) for n, one in enumerate(points, 1)]
        give(database, person, *labels)
    (path,) = write_export(Export(made, database, tmp_path / "qrels.tsv"), "qrels")
    assert read_qrels(path) == {"q1": {"p1": 2, "p2": 1}}

    made, database = project(tmp_path / "s", "support", *PAIRS)
    values = ("yes", "partly", "cannot tell")
    give(database, "ann", *((f"q1 p{n}", "support", "", v) for n, v in enumerate(values, 1)))
    (path,) = write_export(Export(made, database, tmp_path / "words.tsv"), "qrels")
    assert read_qrels(path) == {"q1": {"p1": 2, "p2": 1}}


def test_items_with_the_same_passage_are_one_judgement(tmp_path: Path) -> None:
    """A query and a passage that two items have get one line, with the lower grade."""
    twice = [replace(PAIRS[0], item_id=name) for name in ("x", "y")]
    made, database = project(tmp_path, "labels", *twice)
    give(database, "ann", ("x", "relevance", "", 3), ("y", "relevance", "", 1))
    (path,) = write_export(Export(made, database, tmp_path / "qrels.tsv"), "qrels")
    assert path.read_text("utf-8").splitlines()[1:] == ["q1\tp1\t1"]


def test_labels_of_queries_enter_their_data_set(tmp_path: Path) -> None:
    """The labels are those of the queries; everything else stays."""
    sample = load_dataset("sample")
    first, second = sample.queries[:2]
    types = "mtrag-question-types"
    items = [AnnotationItem(one.query_id, one) for one in (first, second)]
    made, database = project(tmp_path, "labels", *items, scheme=types)
    give(database, "ann", (first.query_id, types, "", ["factoid", "opinion"]))
    write_export(Export(made, database, tmp_path / "out", dataset=sample), "dataset")
    found = load_dataset(tmp_path / "out")

    assert found.queries[0].labels[types] == ("factoid", "opinion")
    assert found.queries[1] == second
    assert (found.qrels, len(found.corpus)) == (sample.qrels, len(sample.corpus))


def test_kept_queries_are_a_data_set_with_their_repairs(tmp_path: Path) -> None:
    """Rejected ones and those that nobody labelled are left out."""
    items = [
        AnnotationItem(f"q{n}", Query(f"q{n}", f"Query {n}?", ("one", "two")), (PASSAGE,))
        for n in range(3)
    ]
    made, database = project(tmp_path, "validation", *items)
    give(
        database,
        "ann",
        ("q0", "verdict", "", "keep"),
        ("q0", "query", "", "When does the ferry sail?"),
        ("q0", "answer", "", "at six"),
        ("q0", "stand_alone", "", 5),
        ("q1", "verdict", "", "reject"),
    )
    write_export(Export(made, database, tmp_path / "out"), "dataset")
    found = load_dataset(tmp_path / "out")

    (query,) = found.queries
    assert (query.text, query.gold_answers) == ("When does the ferry sail?", ("at six", "two"))
    assert query.labels == {"stand_alone": 5}
    assert found.qrels == {"q0": {"p1": 1}}


@pytest.mark.parametrize("form", ["ratings", "inspector", "qrels", "dataset"])
def test_without_labels_there_is_nothing_to_write(tmp_path: Path, form: str) -> None:
    """The error says what to do; no file appears."""
    made, database = project(tmp_path, "support", *PAIRS)
    with pytest.raises(ConfigError, match=r"yet; label some items first: ragstone annotate"):
        write_export(Export(made, database, tmp_path / "out"), form)
    assert not (tmp_path / "out").exists()


def test_forms_that_do_not_exist_or_suit(tmp_path: Path) -> None:
    """A form is named with the nearest one; conversations have a form of their own."""
    made, database = project(tmp_path, "support", *PAIRS)
    with pytest.raises(ConfigError, match="no form 'qrel'; did you mean 'qrels'"):
        write_export(Export(made, database, tmp_path / "out"), "qrel")
    with pytest.raises(ConfigError, match=r"mtrag is for conversations.*task support"):
        write_export(Export(made, database, tmp_path / "out"), "mtrag")


def test_a_file_is_never_overwritten_and_its_digest_is_that_of_the_labels(tmp_path: Path) -> None:
    """Two exports of equal labels have one digest, another label has another one."""
    made, database = project(tmp_path, "support", *PAIRS)
    give(database, "ann", ("q1 p1", "support", "", "yes"))
    first = write_export(Export(made, database, tmp_path / "1.jsonl"), "ratings")
    with pytest.raises(DatasetError, match="already exists"):
        write_export(Export(made, database, tmp_path / "1.jsonl"), "ratings")
    second = write_export(Export(made, database, tmp_path / "2.jsonl"), "ratings")
    assert digest_of(first) == digest_of(second)

    give(database, "ann", ("q1 p2", "support", "", "yes"))
    third = write_export(Export(made, database, tmp_path / "3.jsonl"), "ratings")
    assert digest_of(third) != digest_of(first)
