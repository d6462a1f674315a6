"""Components are found by name and created from parameters; errors contain a remedy."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ragstone.components.context_settings.gold_noise import GoldNoise
from ragstone.components.retrievers.bm25 import BM25
from ragstone.core import registry
from ragstone.core.builtins import BUILT_IN
from ragstone.core.registry import beside, build, create, find, locate, own_folder
from ragstone.core.spec import parse_spec
from ragstone.errors import ConfigError, DatasetError, UnknownComponent
from ragstone.protocols import Generator

OWN = """
from dataclasses import dataclass
from ragstone.types import Ranking

@dataclass(frozen=True)
class Backwards:
    top_k: int = 3

    def retrieve(self, searches, corpus):
        last = corpus.passage_ids[::-1][: self.top_k]
        return [Ranking(last, range(len(last), 0, -1)) for _ in searches]
"""


@pytest.mark.parametrize(
    "written",
    [
        "gold+noise(3, position=last)",
        {"name": "gold+noise", "noise": 3, "position": "last"},
        {"name": "gold+noise(3)", "position": "last"},
    ],
)
def test_the_three_spellings_mean_the_same(written: object) -> None:
    """A call-like text and a mapping make equal components."""
    made = create("context_settings", written, where="setting")

    assert made == GoldNoise(noise=3, position="last")


@pytest.mark.parametrize(
    ("kind", "written", "message"),
    [
        ("retrievers", "bm52", "did you mean 'bm25'"),
        ("context_settings", "gold+noise(nois=3)", "did you mean 'noise'"),
        ("context_settings", "gold+noise(many)", "key 'noise'.*found 'many'"),
        ("context_settings", "gold+noise(0)", "at least 1 noise passage, found 0"),
        ("context_settings", "none(3)", "takes no parameter, found 3"),
        (
            "context_settings",
            "gold+noise(3, 4)",
            "only the first parameter may have no name",
        ),
        ("contexts", ["none"], "expected a component's name"),
        ("retrievers", "no_such_module:Thing", "no module 'no_such_module' is installed"),
        ("retrievers", "ragstone.components.retrievers.bm25:BM52", "has no class 'BM52'"),
    ],
)
def test_an_error_names_the_thing_the_value_and_the_way_out(
    kind: str, written: Any, message: str
) -> None:
    """Every wrong spec is a ConfigError with the value found and the allowed ones."""
    with pytest.raises(ConfigError, match=message):
        create(kind, written, where="here")


def test_a_part_of_a_component_is_placed_once() -> None:
    """The message contains system, retriever and embedder, each once."""
    told = r"^system 'a', retriever 'dense', embedder: unknown embedder 'minilmm'; did you mean"
    with pytest.raises(ConfigError, match=told):
        create("retrievers", "dense(embedder=minilmm)", where="system 'a', retriever")


def test_every_built_in_component_exists() -> None:
    """Every entry of the table of built-ins is a dataclass."""
    for kind, table in BUILT_IN.items():
        for name in table:
            assert find(kind, name, where="test").__doc__, f"{kind} {name} has no docstring"


def test_a_class_in_a_users_file_is_found_beside_the_experiment(tmp_path: Path) -> None:
    """`my_file:MyThing` is looked for in the experiment's folder, without installing anything."""
    (tmp_path / "own_retriever.py").write_text(OWN)

    made = create("retrievers", "own_retriever:Backwards(2)", where="x", folder=tmp_path)

    assert made.top_k == 2


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("1 / 0", r"ZeroDivisionError: division by zero \(broken_one.py, line 1\)"),
        ("\ndef (", r"SyntaxError: invalid syntax \(broken_one.py, line 2\)"),
        ("import no_such", r"ModuleNotFoundError: No module named 'no_such' \(broken_one.py, line"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named(tmp_path: Path, code: str, reason: str) -> None:
    """The error has the file, the line and the reason."""
    (tmp_path / "broken_one.py").write_text(code)

    with pytest.raises(ConfigError, match=rf"broken_one\.py failed on import: {reason}"):
        create("retrievers", "broken_one:Thing", where="x", folder=tmp_path)


def test_a_file_edited_within_a_second_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's stored bytecode of the earlier text, of equal size and time, is not used."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for value in ("1", "2"):
        file = tmp_path / "quick.py"
        file.write_text(OWN.replace("top_k: int", f"version = {value}\n    top_k: int"))
        os.utime(file, (1, 1))

        made = create("retrievers", "quick.py:Backwards", where="x", folder=tmp_path)

        assert made.version == int(value)


def test_an_unknown_name_is_its_own_error() -> None:
    """An unknown component has its own error class."""
    with pytest.raises(UnknownComponent):
        find("retrievers", "nothing", where="x")


def test_a_parameter_without_a_name_is_the_first_one() -> None:
    """`retrieved(3)` sets the first field."""
    assert parse_spec("retrieved(3)", where="x").parameters == {"": 3}


@dataclass(frozen=True)
class _Answers:
    """A generator of your own."""

    length: int = 1

    def generate(self, query: Any) -> str:
        """Return a part of the query."""
        return str(query.text[: self.length])


class _Plain:
    def generate(self, query: Any) -> str:
        """Return the query."""
        return str(query.text)


class _Sized:
    def __init__(self, size: int) -> None:
        self.size = size

    def generate(self, query: Any) -> str:
        """Return the query."""
        return str(query.text)


def test_an_instance_is_a_component_of_its_kind() -> None:
    """It keeps its values; one of the kind is taken as it is."""
    bm25 = BM25(k1=0.5)
    assert create("retrievers", bm25, where="x") is bm25
    for own in (_Answers(3), _Plain()):
        made = create("generators", own, where="x")
        assert isinstance(made, Generator)
        assert isinstance(made, type(own))
        assert create("generators", made, where="x") is made
    assert create("generators", _Answers(3), where="x").length == 3
    with pytest.raises(ConfigError, match=r"^x: '_Answers' has no method retrieve"):
        create("retrievers", _Answers(3), where="x")
    with pytest.raises(ConfigError, match="expected a component's name"):
        create("generators", _Answers, where="x")
    with pytest.raises(ConfigError, match="x: '_Sized' must be a dataclass"):
        create("generators", _Sized(3), where="x")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("bm25@5", r"^here: 'bm25' takes no cutoff @5$"),
        ("bm25(k1=x)", r"^here 'bm25': key 'k1': input .*\n  bm25\(k1=x\)\n       \^$"),
        ("bm25(1, k2=3)", r"did you mean 'k1'.*\n  bm25\(1, k2=3\)\n          \^$"),
        ({"name": "bm25", "k1": "x"}, r"^here 'bm25': key 'k1': [^\n]*$|\^$"),
        ("bm52", r"^here: unknown retriever 'bm52'; did you mean 'bm25'\?[^\n]*$"),
    ],
)
def test_a_wrong_argument_is_shown_by_a_caret(written: object, message: str) -> None:
    """A wrong name has none."""
    with pytest.raises(ConfigError, match=message):
        create("retrievers", written, where="here")


def test_files_are_found_beside_the_experiment_that_is_read(tmp_path: Path) -> None:
    """An absolute path and an absent file stay; outside of a block nothing is looked for."""
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "own_retriever.py").write_text(OWN)
    assert own_folder() == Path()
    with beside(tmp_path):
        assert (locate(Path("a.txt")), own_folder()) == (tmp_path / "a.txt", tmp_path)
        assert locate(Path("b.txt")) == Path("b.txt")
        assert create("retrievers", "own_retriever:Backwards", where="x").top_k == 3
    assert locate(Path("a.txt")) == Path("a.txt")
    with pytest.raises(UnknownComponent, match=r"no module 'own_retriever' is installed$"):
        create("retrievers", "own_retriever:Backwards", where="x")
    missing = rf"no module '.*' is installed, and there is no file {tmp_path}/no_such\.py$"
    for name in ("no_such", "no_such.py"):
        with pytest.raises(UnknownComponent, match=missing):
            create("retrievers", f"{name}:A", where="x", folder=tmp_path)
    with pytest.raises(UnknownComponent, match=r"is installed, and there is no file no_such\.py$"):
        create("retrievers", "no_such.py:A", where="x")
    with pytest.raises(
        UnknownComponent, match="has no class 'BackwardS'; did you mean 'Backwards'"
    ):
        create("retrievers", "own_retriever:BackwardS", where="x", folder=tmp_path)


def test_a_module_that_lacks_another_one_is_not_an_unknown_component(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of the import comes through; a missing package of the module is one of its own."""
    (tmp_path / "installed_one.py").write_text("import no_such_thing")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        find("retrievers", "installed_one:A", where="x")
    with pytest.raises(UnknownComponent, match=r"no module 'no_such\.part'"):
        find("retrievers", "no_such.part:A", where="x")


def test_names_of_installed_packages_join_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the kind, or of its former name; a name with two classes is an error."""
    points = [
        EntryPoint("mine", "package:Mine", "ragstone.retrievers"),
        EntryPoint("bm25", BUILT_IN["retrievers"]["bm25"], "ragstone.retrievers"),
        EntryPoint("late", "package:Late", "ragstone.contexts"),
        EntryPoint("new", "package:New", "ragstone.context_settings"),
        EntryPoint("read", "package:Read", "ragstone.datasets"),
    ]
    monkeypatch.setattr(registry, "_plugins", lambda: EntryPoints(points))
    known = registry.known.__wrapped__

    assert known("retrievers") == {**BUILT_IN["retrievers"], "mine": "package:Mine"}
    settings = {**BUILT_IN["context_settings"], "late": "package:Late", "new": "package:New"}
    assert known("context_settings") == known("contexts") == settings
    points.append(EntryPoint("mine", "other:Mine", "ragstone.retrievers"))
    with pytest.raises(ConfigError, match="two retrievers are called 'mine': package:Mine and oth"):
        known("retrievers")


@pytest.mark.parametrize(("kind", "noun"), [("contexts", "context setting"), ("judges", "judge")])
def test_an_unknown_component_is_called_by_the_noun_of_its_kind(kind: str, noun: str) -> None:
    """A former name of the kind has the new noun; the usual name of a component is known."""
    with pytest.raises(UnknownComponent, match=f"^here: unknown {noun} 'nothing'"):
        find(kind, "nothing", where="here")
    assert find("judges", "faithfulness", where="x") is find("judges", "RL_F", where="x")


@dataclass(frozen=True)
class _Listed:
    """A component with a hidden field, one for names only, and one that is made."""

    made: int = field(default=7, init=False)
    named: int = field(default=1, kw_only=True)
    first: list[int] = field(default_factory=list)
    second: bool = False
    unnamed: ClassVar = "second"


@dataclass(frozen=True)
class _Strict:
    """A component that refuses."""

    named: int = field(default=1, kw_only=True)
    value: int = 0
    optional: int | None = None

    def __post_init__(self) -> None:
        """Raise an error for some values."""
        if self.value in FAULTS:
            raise FAULTS[self.value]


@dataclass(frozen=True)
class _Named:
    only: int = field(kw_only=True, default=1)


FAULTS = {
    1: ConfigError("the value is 1"),
    2: DatasetError("no file 2"),
    3: KeyError("three"),
    4: ConfigError("strict: the value is 4"),
}


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (_Listed, {"": True}, {"second": True}),
        (_Listed, {"first": [1], "named": 2}, {"first": [1], "named": 2, "second": False}),
        (_Listed, {}, {"first": []}),
        (_Strict, {"": 9}, {"value": 9, "named": 1}),
        (_Strict, {"value": True}, {"value": 1}),
        (_Strict, {"optional": None}, {"optional": None}),
        (_Named, {"": 4}, {"only": 4}),
    ],
)
def test_a_value_without_a_key_is_the_first_field_or_the_one_that_the_class_names(
    kind: type, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    """A field for names only is not the first one, unless there is no other."""
    if kind is _Strict and given.get("value") is True:
        with pytest.raises(ConfigError, match="the value is 1"):
            build(kind, given, where="part")
        return
    found = build(kind, given, where="part")

    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("kind", "given", "message", "key"),
    [
        (_Listed, {"made": 1}, "^part: unknown key 'made'. Known: first, named, second", "made"),
        (_Listed, {"first": [1, "x"]}, r"^part: key 'first\.1': .*, found 'x'$", "first"),
        (_Listed, {"z": 1, "b": 2}, "unknown key 'b'", "b"),
        (_Strict, {"value": 1}, "^part: the value is 1$", None),
        (_Strict, {"value": "1"}, "^part: the value is 1$", None),
        (
            _Strict,
            {"value": 3},
            r"^part: _Strict raised KeyError: 'three' \(test_registry.py, l",
            None,
        ),
    ],
)
def test_a_component_that_refuses_its_values(
    kind: type, given: dict[str, Any], message: str, key: str | None
) -> None:
    """The error has the place once, the key, and the line of another exception."""
    with pytest.raises(ConfigError, match=message) as caught:
        build(kind, given, where="part")
    assert caught.value.key == key
    with pytest.raises(DatasetError, match=r"^no file 2$"):
        build(_Strict, {"value": 2}, where="part")
    with pytest.raises(ConfigError, match=r"^system 'a', strict: the value is 4$"):
        build(_Strict, {"value": 4}, where="system 'a', strict")


@dataclass(frozen=True)
class _Part:
    k: int
    name: str = "a"
    share: float = 0.5

    def __post_init__(self) -> None:
        if self.k == 0:
            raise ValueError("k is 0")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"k": 3}, _Part(3)),
        ({"k": 3, "name": "b", "share": 0.25}, _Part(3, "b", 0.25)),
        ({"k": "3"}, _Part(3)),
        ({"k": 3, "share": 1}, _Part(3, share=1.0)),
        ({}, "part: key 'k': "),
        ({"k": "x"}, "part: key 'k': input should be a valid integer"),
        ({"k": 0}, "part: key '.*': value error, k is 0"),
    ],
)
def test_values_of_the_right_type_are_taken_without_a_check(
    given: dict[str, object], expected: _Part | str
) -> None:
    """Others are converted or refused; the outcome is the same either way."""
    if isinstance(expected, str):
        with pytest.raises(ConfigError, match=expected):
            build(_Part, given, where="part")
    else:
        found = build(_Part, given, where="part")
        assert found == expected
        assert type(found.share) is float
