"""Values of `data:` and of the command line, and the layouts recognised from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone.data.load import layout, load_dataset
from ragstone.errors import ComponentError, ConfigError, DatasetError, UnknownComponent

ROW = '{"_id": "q1", "text": "a?"}'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a set `mine`; beside it, `elsewhere` holds another one, `theirs`."""
    (tmp_path / "here" / "mine").mkdir(parents=True)
    (tmp_path / "here" / "mine" / "queries.jsonl").write_text(ROW)
    (tmp_path / "elsewhere" / "theirs").mkdir(parents=True)
    (tmp_path / "elsewhere" / "theirs" / "queries.jsonl").write_text(ROW)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_sample_is_the_set_that_comes_along(here: Path) -> None:
    """`sample` needs no path, and a folder of that name is written ./sample."""
    assert len(load_dataset("sample").corpus) > 150
    (here / "mine").rename(here / "sample")
    assert len(load_dataset("sample").corpus) > 150
    assert len(load_dataset("./sample").corpus) == 0


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "written",
    [
        "mine",
        Path("mine"),
        {"path": "mine"},
        {"name": "ragstone", "path": "mine"},
        {"name": "ragstone(mine)"},
        "ragstone(mine)",
        "ragstone(path=mine, split=dev)",
        {"path": "mine", "dangling_qrels": "drop"},
    ],
)
def test_a_path_may_be_written_in_many_ways(written: object) -> None:
    """A path alone, or a reader's name with its parameters, as text or as a mapping."""
    assert load_dataset(written).name == "mine"  # type: ignore[arg-type]  # all of them are legal


def test_the_folder_of_the_experiment_file_comes_second(here: Path) -> None:
    """A relative path counts from the current folder; the given folder is tried after it."""
    folder = here.parent / "elsewhere"
    assert load_dataset("theirs", folder=folder).name == "theirs"
    assert load_dataset({"name": "ragstone", "path": "theirs"}, folder=folder).name == "theirs"
    (here / "theirs").mkdir()
    with pytest.raises(
        DatasetError, match=r"theirs contains no data set: looked for .*found nothing"
    ):
        load_dataset("theirs", folder=folder)


def test_a_user_s_own_reader_is_found_beside_the_experiment_file(here: Path) -> None:
    """`my_file:MyReader` is loaded from the folder and may read whatever it likes."""
    (here / "my_reader.py").write_text(
        "from dataclasses import dataclass\n"
        "from ragstone.data.load import load_dataset\n"
        "@dataclass(frozen=True)\n"
        "class Mine:\n"
        "    limit: int\n"
        "    def read(self): return load_dataset('sample').sample(self.limit, 1)\n"
        "@dataclass(frozen=True)\n"
        "class Wrong:\n"
        "    def read(self): return 7\n"
    )
    assert len(load_dataset("my_reader:Mine(3)", folder=here).queries) == 3
    with pytest.raises(ComponentError, match=r"'my_reader:Wrong' returned 7, not a Dataset"):
        load_dataset({"name": "my_reader:Wrong"}, folder=here)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["queries.jsonl"], "ragstone"),
        (["conversations.jsonl.gz"], "ragstone"),
        (["corpus.jsonl", "dataset.json"], "ragstone"),
        (["dataset.json.gz", "oracle.json"], "mirage"),
        (["data/rows.parquet"], "mirage"),
        (["squad.json"], "squad"),
        (["squad.json.gz", "README.md"], "squad"),
    ],
)
def test_the_layout_is_known_by_the_files(names: list[str], expected: str, tmp_path: Path) -> None:
    """Names of files decide, gzipped or not."""
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert layout(tmp_path) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dataset.json", "mirage"),
        ("qa.csv", "table"),
        ("qa.tsv.gz", "table"),
        ("dev-v2.0.json.gz", "squad"),
    ],
)
def test_a_file_is_known_by_its_name(name: str, expected: str, tmp_path: Path) -> None:
    """A path may name a file if the layout is one file."""
    (tmp_path / name).touch()
    assert layout(tmp_path / name) == expected


def test_an_unknown_layout_is_an_error_that_lists_the_files(here: Path) -> None:
    """No file, several candidates, an unknown file, a wrong name: each error has a remedy."""
    with pytest.raises(DatasetError, match=r"no data set 'absent': .* in .*here; write a path"):
        load_dataset("absent")
    with pytest.raises(DatasetError, match=r"nor in .*elsewhere"):
        load_dataset("absent", folder=here.parent / "elsewhere")
    (here / "several").mkdir()
    for name in ("a.json", "b.json"):
        (here / "several" / name).write_text("{}")
    with pytest.raises(DatasetError, match=r"contains 2 JSON files; name one .* several/a\.json"):
        load_dataset("several")
    (here / "notes.rst").touch()
    with pytest.raises(DatasetError, match=r"cannot tell the format of notes\.rst from its name"):
        load_dataset("notes.rst")
    with pytest.raises(UnknownComponent, match="did you mean 'mirage'"):
        load_dataset({"name": "mirag", "path": "mine"})
    with pytest.raises(ConfigError, match="unknown key 'spilt'; did you mean 'split'"):
        load_dataset({"name": "ragstone", "path": "mine", "spilt": "dev"})
    with pytest.raises(ConfigError, match="key 'path' must be a path, found 3"):
        load_dataset({"path": 3})
    with pytest.raises(ConfigError, match="key 'dangling_qrels'"):
        load_dataset({"path": "mine", "dangling_qrels": "ignore"})


def test_a_folder_that_may_not_be_read_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system refuses becomes an error of ours, with the path."""

    def refuse(_path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DatasetError, match=r"cannot read the data set mine: .*Permission denied"):
        load_dataset("mine", folder=here)


def test_a_squad_file_is_loaded_by_path(tmp_path: Path) -> None:
    """The reader is chosen and run by the path of a file alone."""
    qas = [{"id": "s1", "question": "a?", "answers": [{"text": "b"}]}]
    content = {"data": [{"title": "T", "paragraphs": [{"context": "c", "qas": qas}]}]}
    (tmp_path / "s.json").write_text(json.dumps(content))
    assert load_dataset(tmp_path / "s.json").qrels == {"s1": {"1-1": 1}}
