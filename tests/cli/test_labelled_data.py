"""The forms of `data` in the training file of a judge."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragstone.cli.labelled_data import read_labelled
from ragstone.errors import ConfigError, DatasetError
from ragstone.training.judge_recipe import JudgeRecipe

HEAD = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label"


def recipe(data: Any, name: str = "", **more: Any) -> JudgeRecipe:
    """Return a training file's keys."""
    return JudgeRecipe(data=data, property=name, output="out", **more)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write JSON lines."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_rated_answers_of_a_published_layout(tmp_path: Path) -> None:
    """An item is a query of the data set; its passage is gold, also if its query is empty."""
    rows = [
        "gpt2\twow\tIt rains.\tHi\tRain.\tFully attributable",
        "gpt2\twow\tIt rains.\t\tSun.\tNot fully attributable",
    ]
    (tmp_path / "begin.tsv").write_text("\n".join([HEAD, *rows]) + "\n")

    found = read_labelled(recipe(f"begin:{tmp_path / 'begin.tsv'}"))

    assert (found.name, found.usual) == ("attributable", "query + answer + passages")
    assert [one.label for one in found.items] == ["yes", "no"]
    assert [q.text for q in found.dataset.queries] == ["Hi", "Sun."]
    assert {tuple(found.dataset.qrels[q.query_id]) for q in found.dataset.queries} == {("p0",)}


def test_a_label_of_a_data_set_or_of_a_file(tmp_path: Path) -> None:
    """A query with several labels, or with none, has no label to learn."""
    rows: list[dict[str, Any]] = [{"query_id": f"q{n}", "text": f"Which {n}?"} for n in range(4)]
    rows[0]["kind"], rows[1]["kind"] = "a", ["a", "b"]
    write_lines(tmp_path / "set/queries.jsonl", rows)
    labels = [{"query_id": "q2", "label": "b", "taxonomy": "kind"}]
    file = write_lines(tmp_path / "labels.jsonl", labels)

    own = read_labelled(recipe(str(tmp_path / "set"), "kind"))
    other = read_labelled(recipe({"queries": str(tmp_path / "set"), "labels": str(file)}, "kind"))

    assert [one.label for one in own.items] == ["a", "", "", ""]
    assert [one.label for one in other.items] == ["", "", "b", ""]
    assert own.usual == "query"


def test_the_majority_of_several_people_is_the_label(tmp_path: Path) -> None:
    """Each person's label is kept for their agreement; a tie has no label."""
    write_lines(
        tmp_path / "set/queries.jsonl", [{"query_id": q, "text": f"{q}?"} for q in ("q1", "q2")]
    )
    given = [("q1", "ann", "a"), ("q1", "bo", "a"), ("q1", "cy", "b"), ("q2", "ann", "a")]
    given.append(("q2", "bo", "b"))
    ratings = [{"query_id": q, "rater": r, "property": "kind", "value": v} for q, r, v in given]
    file = write_lines(tmp_path / "ratings.jsonl", ratings)

    found = read_labelled(recipe({"queries": str(tmp_path / "set"), "labels": str(file)}, "kind"))

    assert [one.label for one in found.items] == ["a", ""]
    assert Counter(found.items[0].raters) == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"ratings": "x", "labels": "y"}, "data must be a layout"),
        ({"query": "x"}, "data must be a layout"),
        (3, "data must be a layout"),
    ],
)
def test_another_form_is_refused(data: Any, message: str) -> None:
    """The error lists the forms."""
    with pytest.raises(ConfigError, match=message):
        read_labelled(recipe(data))


def test_a_label_must_be_named_and_known() -> None:
    """The labels of the data set are listed."""
    with pytest.raises(ConfigError, match="name the label to learn with the key property"):
        read_labelled(recipe("sample"))
    with pytest.raises(DatasetError, match="no query has the label 'colour'"):
        read_labelled(recipe("sample", "colour"))
