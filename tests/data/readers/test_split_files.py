"""Folders of the package `datasets`: saved to disk, and copies of a hub's repository."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import ragstone
from ragstone.data.load import layout
from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.data.readers.split_files import split_files, splits_of
from ragstone.errors import ConfigError, DatasetError

FOLDER = Path(__file__).parent / "foreign"


@pytest.mark.parametrize("name", ["saved", "hub"])
def test_rows_of_squad_have_a_corpus_in_every_form(name: str) -> None:
    """Arrow files of `save_to_disk`, and Parquet files named by their split."""
    path = FOLDER / name
    assert layout(path) == "table"

    dataset = ragstone.load_dataset({"path": path, "split": "test"})

    assert [query.query_id for query in dataset.queries] == ["q0", "q1", "q2"]
    assert dataset.queries[1].gold_answers == ("1912",)
    found = [
        dataset.corpus[p].full_text for q in dataset.queries for p in dataset.qrels[q.query_id]
    ]
    assert found[1] == "Some title\nThe ship sank in April 1912."
    assert len(ragstone.load_dataset({"path": path, "split": "train"}).queries) == 1


@pytest.mark.parametrize("name", ["saved", "hub"])
def test_one_of_several_splits_is_named(name: str) -> None:
    """The error lists them, and the way to name one."""
    path = FOLDER / name
    with pytest.raises(ConfigError, match=r"has the splits (train, test|test, train); name one"):
        ragstone.load_dataset(path)
    with pytest.raises(ConfigError, match=r"has no split 'tset'; did you mean 'test'\?"):
        ragstone.load_dataset({"path": path, "split": "tset"})


def test_a_split_is_a_path_of_its_own(tmp_path: Path) -> None:
    """Answers saved to disk are scored by their folder."""
    dataset = ragstone.load_dataset(FOLDER / "saved" / "test")
    assert len(dataset.queries) == 3
    with pytest.raises(ConfigError, match="is one split; remove split: test"):
        split_files(FOLDER / "saved" / "test", "test")
    (rows,) = read_answer_rows(FOLDER / "saved" / "test", {"answer": "title"}).systems.values()
    assert {one.answer for one in rows.predictions.values()} == {"Some_title"}
    shutil.copytree(FOLDER / "saved" / "test", tmp_path / "set")
    assert layout(tmp_path / "set") == "table"


def test_splits_are_known_by_the_names_of_files(tmp_path: Path) -> None:
    """As on a hub: shards in order, a word, or a folder; other files are of no split."""
    for name in (
        *("data/train-00001-of-00002.parquet", "data/train-00000-of-00002.parquet"),
        *("test.jsonl", "qa_dev.csv", "validation/0000.parquet", "README.md", "latest.json"),
        *("training.txt", "deep/er/test.jsonl", "eval_a.csv", "eval_b.csv", ".git/train.json"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = {
        split: [path.relative_to(tmp_path).as_posix() for path in paths]
        for split, paths in splits_of(tmp_path).items()
    }
    assert found == {
        "train": ["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"],
        "dev": ["qa_dev.csv"],
        "test": ["test.jsonl"],
        "validation": ["validation/0000.parquet"],
        "eval_a": ["eval_a.csv"],
        "eval_b": ["eval_b.csv"],
    }


def test_json_lines_of_a_hub_are_read(tmp_path: Path) -> None:
    """One split needs no name; all its files are read."""
    for n in range(2):
        row = {"question": f"Where, {n}?", "answer": "here"}
        (tmp_path / f"test-0000{n}-of-00002.jsonl").write_text(json.dumps(row))
    dataset = ragstone.load_dataset(tmp_path)
    assert [query.text for query in dataset.queries] == ["Where, 0?", "Where, 1?"]


def test_damaged_folders_are_named(tmp_path: Path) -> None:
    """A missing or cut file, an order of its own, a folder without a split."""
    folder = Path(shutil.copytree(FOLDER / "saved" / "test", tmp_path / "set"))
    (data,) = folder.glob("*.arrow")
    whole = data.read_bytes()
    for size in (900, len(whole) - 8):
        data.write_bytes(whole[:size])
        with pytest.raises(DatasetError, match=r"\.arrow is not a complete Arrow file"):
            ragstone.load_dataset(folder)
    data.unlink()
    with pytest.raises(DatasetError, match=r"state.json lists data-.*, which the folder lacks"):
        ragstone.load_dataset(folder)
    state = folder / "state.json"
    state.write_text(json.dumps({"_data_files": [], "_indices_data_files": [{}]}))
    with pytest.raises(DatasetError, match="flatten_indices"):
        ragstone.load_dataset(folder)
    state.write_text("[]")
    with pytest.raises(DatasetError, match="no list '_data_files'"):
        ragstone.load_dataset(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="nor files named by their split"):
        read_answer_rows(tmp_path / "empty")


def test_a_list_of_files_leads_nowhere_else(tmp_path: Path) -> None:
    """A path in `state.json` counts as a name in the folder."""
    (tmp_path / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": "../../etc/passwd"}]})
    )
    with pytest.raises(DatasetError, match="lists passwd, which the folder lacks"):
        split_files(tmp_path)
