"""The experiment file: overrides, sweeps, and errors that name key and value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.experiment.config import parse_experiment
from ragstone.experiment.members import read_experiment_file

SMALL = """\
data: sample
systems:
  one: {retriever: bm25, generator: gold}
settings: [none, gold]
metrics: [Match, nDCG@10]
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the path of a small experiment file."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def test_the_name_is_the_files(small: Path) -> None:
    """Without a name of its own an experiment is called as its file is."""
    assert read_experiment_file(small).name == "small"


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("sample.limit=20", lambda f: f.sample.limit == 20),
        ("data=../x", lambda f: f.data == "../x"),
        (
            "systems.one.retriever.k1=0.9",
            lambda f: f.systems[0].retriever == {"name": "bm25", "k1": 0.9},
        ),
        ("settings.1=retrieved(3)", lambda f: f.settings[1] == "retrieved(3)"),
        ("settings=none", lambda f: f.settings == ["none"]),
        ("systems.one.generator=null", lambda f: f.systems[0].generator is None),
    ],
)
def test_overrides_reach_every_place(small: Path, override: str, read: Any) -> None:
    """A dotted key sets one value; the value is YAML."""
    assert read(read_experiment_file(small, [override]))


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("sample.limt=3", "unknown key 'sample.limt'; did you mean 'limit'"),
        ("metric=Match", "unknown key 'metric'; did you mean 'metrics'"),
        ("systems.one.retreiver=bm25", "did you mean 'retriever'"),
        ("sample.limit=0", "'sample.limit'.*found 0"),
        ("sample.limit=some", "'sample.limit'.*found 'some'"),
        ("settings.7=none", "'7' is not a position in a list of 2"),
        ("limit", "expected key=value"),
        ("data.path.x=1", None),
        ("data=[", "cannot read the value: it is not YAML"),
        ("systems=3", "must be a list or a mapping, found 3"),
        ("name=a/b", "'name'.*found 'a/b'"),
    ],
)
def test_a_wrong_override_is_explained(small: Path, override: str, said: str | None) -> None:
    """Errors name the key, the value and the nearest legal one."""
    if said is None:
        assert read_experiment_file(small, [override]).data == {
            "name": "sample",
            "path": {"x": 1},
        }
        return
    with pytest.raises(ConfigError, match=said):
        read_experiment_file(small, [override])


def test_lists_make_a_sweep_of_all_combinations() -> None:
    """Values and parameters given as lists are spread into one system each."""
    document = {
        "data": "sample",
        "systems": [
            {"retriever": ["bm25", {"name": "bm25", "k1": [0.9, 1.2]}], "generator": "gold"}
        ],
        "settings": ["none"],
        "metrics": ["Match"],
    }

    file = parse_experiment(document, where="test")

    assert [entry.retriever for entry in file.systems] == [
        "bm25",
        {"name": "bm25", "k1": 0.9},
        {"name": "bm25", "k1": 1.2},
    ]


def test_the_variants_of_a_named_system_have_different_names() -> None:
    """Each name has the values of the swept parameters."""
    document = {
        "data": "sample",
        "systems": {"mine": {"retriever": ["bm25", "dense"]}},
        "metrics": ["nDCG@10"],
    }

    file = parse_experiment(document, where="test")

    assert [entry.name for entry in file.systems] == ["mine [bm25]", "mine [dense]"]


def test_parameters_whose_value_is_a_list_are_not_swept() -> None:
    """A list of stop strings is one value."""
    generator = {"name": "local", "stop": ["a", "b"]}
    document = {
        "data": "sample",
        "systems": [{"generator": generator}],
        "settings": ["none"],
        "metrics": ["Match"],
    }

    assert parse_experiment(document, where="test").systems[0].generator == generator


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("data: [", "is not YAML"),
        ("- a", "expected keys such as data"),
        ("data: sample\nmetrics: [Match]", "the key 'systems' is missing"),
        ("data: sample\nsystem: [bm25]", "unknown key 'system'; did you mean 'systems'"),
        ("data: sample\nsystems: 3\nmetrics: [Match]", "'systems' must be"),
        ("data: sample\nsystems: [bm25]\nmetrics: [Match]", "a system is a mapping"),
        ("systems: [{retriever: bm25}]\nmetrics: [Match]", "the key 'data' is missing"),
        ("data: sample\ndata: mine\nmetrics: [Match]", "the key 'data' occurs twice; keep one"),
    ],
)
def test_a_malformed_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    """The error begins with the file's path."""
    path = tmp_path / "bad.yaml"
    path.write_text(text)

    with pytest.raises(ConfigError, match=said) as error:
        read_experiment_file(path)

    assert "bad.yaml" in str(error.value)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    """A path that is not there is a ConfigError."""
    with pytest.raises(ConfigError, match="there is no experiment file"):
        read_experiment_file(tmp_path / "nothing.yaml")


def test_the_parts_of_a_fusion_are_one_value_unless_one_of_them_is_a_list() -> None:
    """Each place of a list of components is swept like a step; weights by a list of lists."""
    part = {"name": "bm25", "k1": [0.9, 1.2]}
    fused = {"name": "fusion", "retrievers": [part, "dense"], "weights": [1, 2]}
    other = {"name": "fusion", "retrievers": ["bm25", ["dense", "sparse"]]}
    swept = {"name": "fusion", "retrievers": ["bm25", "dense"], "weights": [[1, 2], [2, 1]]}
    document = {
        "data": "sample",
        "systems": [{"retriever": [fused, other, swept]}],
        "metrics": ["nDCG@10"],
    }

    made = [entry.retriever for entry in parse_experiment(document, where="test").systems]

    assert [entry["retrievers"] for entry in made if isinstance(entry, dict)] == [
        [{"name": "bm25", "k1": 0.9}, "dense"],
        [{"name": "bm25", "k1": 1.2}, "dense"],
        ["bm25", "dense"],
        ["bm25", "sparse"],
        ["bm25", "dense"],
        ["bm25", "dense"],
    ]
    weights = [entry.get("weights") for entry in made if isinstance(entry, dict)]
    assert weights == [[1, 2], [1, 2], None, None, [1, 2], [2, 1]]


def test_the_maximum_of_a_sweep_can_be_raised() -> None:
    """The error has the size and the key that raises it, for one entry and over all."""
    systems = [{"retriever": {"name": "bm25", "k1": [0.5, 0.7]}}] * 2
    with pytest.raises(ConfigError, match=r"make 4 systems; the maximum is 3: .*max_systems: 4"):
        parse_experiment({"systems": systems, "max_systems": 3}, where="e.yaml")
    document = {"data": "sample", "systems": systems, "max_systems": 4, "metrics": ["R@5"]}
    assert len(parse_experiment(document, where="e.yaml").systems) == 4
    with pytest.raises(ConfigError, match="'max_systems' must be a whole number"):
        parse_experiment({"max_systems": 0}, where="e.yaml")


def test_sweeps_are_counted_before_they_are_built() -> None:
    """Products and sums of lists that would fill the memory are refused at once."""
    values = list(range(99))
    wide = {"name": "bm25", **{f"k{n}": values for n in range(3000)}}
    for systems in ([{"retriever": wide}], [{"retriever": ["a"] * 9999}] * 20):
        with pytest.raises(
            ConfigError, match=r"the lists of .* make .* systems; the maximum is 10,0"
        ):
            parse_experiment({"systems": systems}, where="e.yaml")
    with pytest.raises(ConfigError, match="make 10,100 settings; the maximum"):
        parse_experiment({"settings": [["gold"] * 101] * 200}, where="e.yaml")
    judges = {"name": "idk", "prompt": ["a"] * 1000, "of": [{"name": "b", "prompt": ["c"] * 1000}]}
    with pytest.raises(ConfigError, match=r"make 1,000,000 judges|more than 100,000 judges"):
        parse_experiment({"judges": judges}, where="e.yaml")


def test_the_maximum_of_a_sweep_has_a_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file cannot ask for more systems than fit into memory."""
    monkeypatch.setattr(limits, "MOST_SWEEP_SYSTEMS", 5)
    for most in (6, True, 1.5, "3"):
        with pytest.raises(ConfigError, match="must be a whole number from 1 to 5, found"):
            parse_experiment({"max_systems": most}, where="e.yaml")
    with pytest.raises(
        ConfigError, match="make more than 5 systems; the maximum is 2: sweep fewer"
    ):
        parse_experiment(
            {
                "systems": [{"retriever": {"name": "b", "c": [1, 2, 3], "d": [4, 5]}}],
                "max_systems": 2,
            },
            where="e.yaml",
        )
