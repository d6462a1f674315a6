"""Components are found by name and created from parameters; errors contain a remedy."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.context_settings.gold_noise import GoldNoise
from ragstone.core.builtins import BUILT_IN
from ragstone.core.registry import build, create, find
from ragstone.core.spec import parse_spec
from ragstone.errors import ConfigError, UnknownComponent

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
