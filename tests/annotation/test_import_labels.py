"""Ratings as labels, and as a model's suggestions."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.annotation.test_rating_export import PASSAGE, QUERY, A, B, give, project, rows

from ragstone.annotation.import_labels import ImportCounts, import_ratings, with_suggestions
from ragstone.annotation.items import AnnotationItem
from ragstone.annotation.rating_export import ExportChoice, export_lines
from ragstone.data.readers.ratings import HumanRating, RatedItem, read_ratings
from ragstone.errors import DatasetError

ITEM = AnnotationItem("q1", QUERY, (PASSAGE,), (A, B))


def test_an_export_is_imported_once(tmp_path: Path) -> None:
    """The labels are equal in the other project; a second import changes nothing."""
    made, database = project(tmp_path / "one", "ratings", ITEM)
    give(
        database,
        "ann",
        ("q1", "faithfulness", "a · gold", 4),
        ("q1", "completeness", "b · gold", 1),
    )
    (tmp_path / "out.jsonl").write_bytes(b"".join(export_lines(made, database, ExportChoice())))
    ratings = read_ratings(tmp_path / "out.jsonl")
    events = database.count()
    assert import_ratings(made, database, ratings) == ImportCounts(0, 2, 0)
    assert database.count() == events  # the labels keep their times

    other, target = project(tmp_path / "two", "ratings", ITEM)
    assert import_ratings(other, target, ratings) == ImportCounts(2, 0, 0)
    assert import_ratings(other, target, ratings) == ImportCounts(0, 2, 0)
    assert rows(other, target) == rows(made, database)
    give(target, "ann", ("q1", "faithfulness", "a · gold", 2))
    import_ratings(other, target, ratings)
    assert rows(other, target)[0]["value"] == 2


def test_several_options_come_back(tmp_path: Path) -> None:
    """The text of an export is a list of options again."""
    types = "mtrag-question-types"
    made, database = project(tmp_path, "labels", AnnotationItem("q1", QUERY), scheme=types)
    import_ratings(made, database, [HumanRating(RatedItem("q1"), types, "ann", "factoid;opinion")])

    assert [one.value for one in database.labels()] == [["factoid", "opinion"]]


def test_values_and_queries_that_do_not_exist(tmp_path: Path) -> None:
    """An unknown option is an error; other queries are counted, unless there is nothing else."""
    made, database = project(tmp_path, "ratings", ITEM)
    answer = RatedItem("q1", "a", "gold")
    good, bad = (HumanRating(answer, "faithfulness", "ann", value) for value in (4, 7))
    other = HumanRating(RatedItem("q2", "a", "gold"), "faithfulness", "ann", 4)

    with pytest.raises(DatasetError, match="no option '7'"):
        import_ratings(made, database, [bad])
    with pytest.raises(DatasetError, match=r"none of the 1 ratings.*faithfulness"):
        import_ratings(made, database, [other])
    assert import_ratings(made, database, [good, other]) == ImportCounts(1, 0, 1)


def test_a_models_ratings_are_suggestions(tmp_path: Path) -> None:
    """One per item, or one per answer."""
    ratings = [HumanRating(RatedItem("q1", "a", "gold"), "faithfulness", "llm", 3)]
    made, _ = project(tmp_path, "ratings", ITEM)
    (item,) = with_suggestions([ITEM], made.scheme, ratings)
    assert item.suggested == {"faithfulness": {"a · gold": 3}}

    pair = AnnotationItem("q1 p1", QUERY, (PASSAGE,))
    made, _ = project(tmp_path / "s", "support", pair)
    label = HumanRating(RatedItem("q1", passage_id="p1"), "support", "llm", "no")
    assert with_suggestions([pair], made.scheme, [label])[0].suggested == {"support": "no"}
    with pytest.raises(DatasetError, match="none of the 1 suggestions"):
        with_suggestions([pair], made.scheme, ratings)
