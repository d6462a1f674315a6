"""YAML from outside: traps are refused fast, and what is written is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragstone.core import limits
from ragstone.core.parsing import LimitError, parse_yaml


def multiplied(first: str, row: str, count: int) -> bytes:
    """Return YAML in which each of some lines has nine aliases of the line before."""
    rows = (row.format(n, ",".join([f"*a{n - 1}"] * 9)) for n in range(1, count))
    return f"a0: &a0 {first}\n{''.join(rows)}".encode()


@pytest.mark.parametrize(
    "content",
    [
        multiplied("[x, x]", "a{0}: &a{0} [{1}]\n", 20),
        b"a: &a " + b"x" * 100_000 + b"\nb: [" + b"*a," * 1000 + b"]",
        b"a: &a [" + b"x," * 5000 + b"]\nb: [" + b"*a," * 5000 + b"]",
        b"&a [*a]",
        b"[" * 5000,
        b"".join(b" " * n + b"a:\n" for n in range(400)),
    ],
)
def test_a_small_file_that_unpacks_to_a_large_value_is_refused(content: bytes) -> None:
    """Aliases of lists, of a long text and of itself, and lists within lists."""
    with pytest.raises(LimitError, match=r"aliases|levels deep"):
        parse_yaml(content)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a: " + "9" * 1001, "a number has at most 1000 characters, found 1,001"),
        ("a: " + ":".join("1" * 2000), "a number has at most 1000 characters"),
        ("a: 0x" + "f" * 90_000, "a number has at most 1000 characters"),
        ("!!timestamp x", "the value is not a timestamp; put quotation marks around it"),
        ("a: 2001-99-99", "the value is not a timestamp"),
        ("!!bool x", "the value is not a bool"),
        ("!!int ''", "the value is not a int"),
        ('"\\U99999999"', "the number behind .U is not a character"),
        ('a: "\\ud800"', "a text must not contain the character '.ud800'"),
        ('a: "b\\0"', "a text must not contain the character '.x00'"),
        ("[" * 100_000, "while increasing flow level"),
        ("!!set {a, b}", "could not determine a constructor"),
        ("!!binary eA==", "could not determine a constructor"),
        ("a: {b: 1, b: 2}", "the key 'b' occurs twice; keep one"),
    ],
)
def test_values_that_nothing_could_use_are_refused(content: str, problem: str) -> None:
    """Each has its place and a reason in place of an exception of PyYAML's."""
    with pytest.raises(ValueError, match=f"it is not YAML: {problem}"):
        parse_yaml(content.encode())


def test_json_with_escapes_of_two_halves_is_read() -> None:
    """A character beyond U+FFFF is one, as a value and as a key."""
    value = {"name": "m\U0001f469\u200d\U0001f467", "\U0001f600": ["\U0010ffff"]}
    for size in (1, 100_000):
        written = json.dumps({**value, "other": "x" * size})
        assert parse_yaml(written.encode()) == {**value, "other": "x" * size}


def test_merges_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """All merges of a file have a maximum of keys."""
    monkeypatch.setattr(limits, "MAX_YAML_MERGED_KEYS", 3)
    assert parse_yaml(b"a: &a {b: 1}\nc: {<<: [*a, *a, *a]}")["c"] == {"b": 1}
    with pytest.raises(ValueError, match="'<<' merges at most 3 keys"):
        parse_yaml(b"a: &a {b: 1}\nc: {<<: [*a, *a]}\nd: {<<: [*a, *a]}")


def test_nested_merges_are_refused_fast() -> None:
    """Merges in which each line has nine aliases of the line before do not multiply."""
    rows = (f"a{n}: &a{n} {{k{n}: 1, <<: [{','.join([f'*a{n - 1}'] * 99)}]}}" for n in range(1, 99))
    with pytest.raises(ValueError, match="'<<' merges at most 100,000 keys"):
        parse_yaml("\n".join(["a0: &a0 {k: 1}", *rows]).encode())


def test_expanded_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and characters count as often as they are named."""
    monkeypatch.setattr(limits, "MAX_YAML_EXPANDED", 12)
    assert parse_yaml(b"[&a abcd, *a]") == ["abcd"] * 2
    with pytest.raises(LimitError, match="more than 12 values and characters"):
        parse_yaml(b"[&a abcd, *a, *a]")


def test_numbers_of_the_maximum_length_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number of exactly the maximum is read; a text may be longer."""
    monkeypatch.setattr(limits, "MAX_NUMBER_CHARACTERS", 5)
    assert parse_yaml(b"[12345, '123456', 1.5e9]") == [12345, "123456", "1.5e9"]


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("a: &a {k: 1}\nb: {<<: *a, k: 2}", {"a": {"k": 1}, "b": {"k": 2}}),
        (
            # The inner mapping is merged by another one before it is read itself.
            "a: &a {k: 1}\nx: {y: &b {<<: *a, k: 2}}\nz: {<<: *b}",
            {"a": {"k": 1}, "x": {"y": {"k": 2}}, "z": {"k": 2}},
        ),
        ("\n".join(f"k{n}: {n}" for n in range(8000)), {f"k{n}": n for n in range(8000)}),
    ],
)
def test_ordinary_yaml_is_read(content: str, value: Any) -> None:
    """Merges that override a key, and files that libyaml reads."""
    assert parse_yaml(content.encode()) == value
