"""Layouts of ratings are known by their fields, whatever the names of the files are."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ragstone.data.readers.rated_layouts import layout_of, read_rated
from ragstone.errors import ConfigError, DatasetError, RagstoneError

SharedData: TypeAlias = Callable[[str], Path]
FILES = {
    "truthfulqa": "human_judgements.es.csv",
    "begin": "begin_dev_cmu.tsv.gz",
    "ragchecker": "human_labeled_data.json.gz",
    "mtrag": "human_evaluations/reference_subset_with_human_evaluations.json.gz",
}
ROW: dict[str, Any] = {"query_id": "q", "rater": "ann", "property": "fluency", "value": 4}


@pytest.mark.parametrize("name", FILES)
def test_a_renamed_file_is_known(shared_data: SharedData, tmp_path: Path, name: str) -> None:
    """Alone, in a folder, and with its layout named."""
    file = shared_data(name) / FILES[name]
    other = tmp_path / f"mine-7{''.join(file.suffixes[-2:]) if '.gz' in file.name else file.suffix}"
    shutil.copyfile(file, other)

    assert layout_of(other) == name
    assert read_rated(other).name == read_rated(tmp_path).name == name
    assert read_rated(f"{name}:{other}").ratings == read_rated(other).ratings


def test_raters_have_names(shared_data: SharedData) -> None:
    """The two labellers of RAGChecker's pairs, and the ids of mtRAG's."""
    pairs = read_rated(shared_data("ragchecker"))
    answers = read_rated(shared_data("mtrag"))

    assert {one.rater for one in pairs.ratings} == {"labeller 1", "labeller 2"}
    assert pairs.properties == ("overall", "correctness", "completeness")
    assert len({one.rater for one in answers.ratings}) == 7
    assert str(answers.scales["faithfulness"]) == "1-4"


def test_lines_of_ratings(tmp_path: Path) -> None:
    """With a line that lacks a field, the reader of ratings explains the problem."""
    path = tmp_path / "mine.txt"
    path.write_text(json.dumps(ROW) + "\n")
    assert read_rated(path).properties == ("fluency",)
    named = path.rename(tmp_path / "mine.jsonl")
    named.write_text(json.dumps({**ROW, "rater": None}) + "\n")
    with pytest.raises(DatasetError, match=r"line 1.*'rater' is missing"):
        read_rated(named)
    named.write_text("")
    with pytest.raises(DatasetError, match="has no ratings; it has no line"):
        read_rated(named)


def test_bad_grades_are_named(shared_data: SharedData, tmp_path: Path) -> None:
    """A value outside of the declared scale, and a person's second label of an answer."""
    with gzip.open(shared_data("ragchecker") / FILES["ragchecker"]) as file:
        rows = json.load(file)
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps([rows[0] | {"overall_label": 3}]))
    with pytest.raises(DatasetError, match=r"pairs.json, query '0'.*value 3.0 of 'overall'.*-2-2"):
        read_rated(path)

    lines = (shared_data("truthfulqa") / FILES["truthfulqa"]).read_text(encoding="utf-8")
    table = tmp_path / "grades.csv"
    table.write_text(lines.replace(",yes,yes,", ",maybe,yes,", 1), encoding="utf-8")
    with pytest.raises(DatasetError, match=r"grades.csv, line \d+: the value 'maybe'"):
        read_rated(table)
    head, *rest = lines.splitlines(keepends=True)
    table.write_text(head + "".join(rest + rest), encoding="utf-8")
    with pytest.raises(DatasetError, match=r"grades.csv, line \d+: a second rating of 'truthful"):
        read_rated(table)


@pytest.mark.parametrize("written", ["nowhere.json", "truthfulqa:nowhere", "chess:x", "begin:/"])
def test_what_cannot_be_read(written: str) -> None:
    """Errors are those of the package."""
    with pytest.raises(RagstoneError):
        read_rated(written)


def test_a_folder_of_several_layouts_needs_a_name(shared_data: SharedData, tmp_path: Path) -> None:
    """The error has the sources to choose from; language is an option of truthfulqa."""
    shutil.copyfile(shared_data("begin") / FILES["begin"], tmp_path / "a.tsv.gz")
    (tmp_path / "b.jsonl").write_text(json.dumps(ROW) + "\n")

    with pytest.raises(DatasetError, match="has the layouts begin, ratings; name one"):
        read_rated(tmp_path)
    assert len(read_rated(f"ratings:{tmp_path}").ratings) == 1
    with pytest.raises(ConfigError, match="begin does not have the option language"):
        read_rated(f"begin:{tmp_path}", language="en")
    with pytest.raises(DatasetError, match="no single file of the language it"):
        read_rated(shared_data("truthfulqa"), language="it")
    with pytest.raises(DatasetError, match="no ratings in one of the known layouts"):
        read_rated(shared_data("rgb"))
