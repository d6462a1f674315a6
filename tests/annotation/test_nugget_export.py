"""Nuggets that people marked, as a file of TREC RAG that is read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.annotation.test_rating_export import A, B, give, project, rows

from ragstone.annotation.export_forms import Export, write_export
from ragstone.annotation.from_data import nugget_item
from ragstone.annotation.items import AnnotationItem
from ragstone.data.readers.nuggets import read_nuggets
from ragstone.data.readers.ratings import read_ratings
from ragstone.errors import ConfigError
from ragstone.types import Query

QUERY = Query("q1", "When does it sail?")
NUGGETS = {"vital_nuggets": ("At six.", "From pier two."), "okay_nuggets": ("Daily.",)}


def written(tmp_path: Path, made: object, database: object) -> dict[str, Query]:
    """Write and read the nuggets of a project."""
    export = Export(made, database, tmp_path / "n.jsonl")  # type: ignore[arg-type]
    (path,) = write_export(export, "nuggets")
    return {query_id: one.query for query_id, one in read_nuggets(path).items()}


def test_nuggets_of_a_data_set_come_back_equal(tmp_path: Path) -> None:
    """A person takes each nugget with the importance that it had, which is suggested."""
    query = replace(QUERY, labels=NUGGETS)
    item = nugget_item(query)
    assert item.parts == ("At six.", "From pier two.", "Daily.")
    made, database = project(tmp_path, "nuggets", item)
    labels = [
        ("q1", "importance", part, value) for part, value in item.suggested["importance"].items()
    ]
    kept = [{"id": f"part:{n}", "text": text} for n, text in enumerate(item.parts, 1)]
    give(database, "ann", ("q1", "nugget", "", kept), *labels)
    assert written(tmp_path, made, database) == {"q1": query}


def test_nuggets_of_people_and_answers_are_united(tmp_path: Path) -> None:
    """Equal texts are one nugget, vital by more than half; removed ones do not count."""
    items = [AnnotationItem(f"q1 {one.part}", QUERY, (), (one,)) for one in (A, B)]
    known = AnnotationItem("k", Query("k", "Known?"), known={"nugget": ["a"]})
    made, database = project(tmp_path, "nuggets", *items, known)
    first, second = (one.item_id for one in items)
    own = [{"id": "n1", "text": "At six."}, {"id": "n2", "text": "Daily."}]
    give(
        database,
        "ann",
        (first, "nugget", "", own),
        (first, "importance", "n1", "vital"),
        (first, "importance", "n2", "vital"),
        (first, "importance", "gone", "vital"),
        (second, "nugget", "", own[:1]),
        (second, "importance", "n1", "vital"),
        ("k", "nugget", "", own),
        ("k", "importance", "n1", "vital"),
    )
    give(
        database,
        "ben",
        (first, "nugget", "", [{"id": "m1", "text": "Daily. "}, {"id": "m2", "text": "At six."}]),
        (first, "importance", "m1", "okay"),
        (first, "importance", "m2", "okay"),
        (first, "supported", "m2", "no"),
    )
    found = written(tmp_path, made, database)
    labels = {"vital_nuggets": ("At six.",), "okay_nuggets": ("Daily.",)}
    assert found == {"q1": replace(QUERY, labels=labels)}
    parts = [one.get("part") for one in rows(made, database) if one["property"] != "nugget"]
    assert "gone" not in parts
    (path,) = write_export(Export(made, database, tmp_path / "r.jsonl"), "ratings")
    assert {one.item.part for one in read_ratings(path)} == {"At six.", "Daily.", "Daily. "}


def test_other_schemes_have_no_nuggets(tmp_path: Path) -> None:
    """The error names the way out, as it does if nothing is labelled."""
    made, database = project(tmp_path, "support", AnnotationItem("q1", QUERY))
    with pytest.raises(ConfigError, match=r"no question about a part .* choose ratings"):
        written(tmp_path, made, database)
    made, database = project(tmp_path / "n", "nuggets", AnnotationItem("q1", QUERY))
    with pytest.raises(ConfigError, match="no nuggets with an importance yet"):
        written(tmp_path, made, database)
