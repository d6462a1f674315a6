"""A passport whose values have other types is refused with the place of the first one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.fuzzing.requests import PASSPORT

from ragstone.errors import ConfigError
from ragstone.results.passport_file import digest, read_passport, write_passport
from ragstone.results.passport_shape import shape_problem


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return a passport with a change and the checksum of its content."""
    made = copy.deepcopy(PASSPORT)
    del made["checksum"]
    change(made)
    return {**made, "checksum": digest(made)}


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "key": (lambda p: p.pop("calls"), "has no 'calls'"),
    "inner key": (
        lambda p: p["numbers"]["leaderboard"][0].pop("setting"),
        r"has no 'numbers\.leaderboard\.0\.setting'",
    ),
    "type": (lambda p: p["calls"][0].update(setting=[]), r"is damaged: calls\.0\.setting: "),
    "part": (
        lambda p: p["steps"].append({"step": "retrieve", "part": "x"}),
        "is damaged: steps: there is no part 'x'",
    ),
    "marks": (
        lambda p: p["contents"]["queries"].update(marks="abc"),
        "is damaged: contents: 12 queries have other marks",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_passport_of_another_shape_is_refused(what: str, tmp_path: Path) -> None:
    """Its checksum is right, so only its values show that it is not a passport's content."""
    change, message = CHANGES[what]
    path = write_passport(changed(change), tmp_path / "p.json")
    with pytest.raises(ConfigError, match=message):
        read_passport(path)


def test_a_whole_passport_has_no_problem() -> None:
    """Values that are not read may have any type."""
    assert shape_problem(PASSPORT) == ""
    assert shape_problem({**PASSPORT, "notes": 1}) == ""


@pytest.mark.parametrize("content", [b'{"a": "\\ud800"}', b'{"a": NaN}', b"[" * 200 + b"]" * 200])
def test_text_that_is_no_json_is_refused(content: bytes, tmp_path: Path) -> None:
    """A lone surrogate, NaN and deep lists are errors that name the file."""
    path = tmp_path / "p.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"p\.json is damaged"):
        read_passport(path)
