"""JSON and YAML within the limits on size and nesting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from ragstone.core import limits, parsing
from ragstone.core.parsing import (
    LimitError,
    check_collections,
    parse_json,
    parse_yaml,
    read_yaml,
)
from ragstone.core.yaml_loader import yaml_loader
from ragstone.errors import ConfigError

DEEP = limits.MAX_NESTING_LEVELS


def nested(levels: int, opening: str = "[", closing: str = "]") -> bytes:
    """Return brackets in brackets."""
    return (opening * levels + closing * levels).encode()


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
def test_nesting_has_a_maximum(parse: Any) -> None:
    """Lists and objects count together; orjson's own limit has the same error."""
    assert parse(nested(DEEP)) is not None
    assert parse(
        nested(DEEP // 2, '[{"a": ', "}]")[: -2 * (DEEP // 2)] + b"1" + b"}]" * (DEEP // 2)
    )
    for content in (nested(DEEP + 1), b'{"a": ' + nested(DEEP) + b"}", nested(3000)):
        with pytest.raises(LimitError, match=f"nested more than {DEEP} levels deep"):
            parse(content)
    wide = b"[" + b",".join([b"[]"] * 3 * DEEP) + b"]"
    assert len(parse(wide)) == 3 * DEEP


def test_malformed_json_is_orjsons_error() -> None:
    """The caller has the file and the line."""
    with pytest.raises(orjson.JSONDecodeError):
        parse_json(b"[1,")


def test_a_walk_is_only_as_long_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few brackets of either kind cannot be deep."""
    walked: list[Any] = []
    monkeypatch.setattr(parsing, "check_collections", walked.append)
    parse_json(b"[" + b",".join([b'{"a":1}'] * (DEEP - 1)) + b"]")
    assert walked == []
    parse_json(b"[" + b",".join([b'{"a":1}'] * DEEP) + b"]")
    assert len(walked) == 1


def test_a_yaml_file_has_a_maximum_of_bytes(tmp_path: Path) -> None:
    """The error has the limit; a file of exactly that size is read."""
    path = tmp_path / "a.yaml"
    text = "a: b #".ljust(limits.MAX_YAML_BYTES, "x")
    path.write_text(text)
    assert read_yaml(path, "price table") == {"a": "b"}
    for longer in (text + "x", text * 2):
        path.write_text(longer)
        with pytest.raises(ConfigError, match="has more than 1,048,576 bytes, the maximum"):
            read_yaml(path, "price table")


def test_a_file_of_yaml_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The error has the kind of file, the path and, if it is known, the line."""
    path = tmp_path / "a.yaml"
    with pytest.raises(ConfigError, match=r"there is no price table .*a\.yaml$") as absent:
        read_yaml(path, "price table")
    assert absent.value.path == path
    path.write_text("a: 1\nb: [")
    with pytest.raises(ConfigError, match=r"cannot read the price table .* is not YAML") as caught:
        read_yaml(path, "price table")
    assert (caught.value.path, caught.value.line) == (path, 2)
    path.write_bytes(b"a: \xff")
    with pytest.raises(ConfigError, match="cannot read the price table") as caught:
        read_yaml(path, "price table")
    assert caught.value.line is None
    with pytest.raises(ValueError, match=r"behind \\U is not a character"):
        parse_yaml(b'"\\UFFFFFFFF"')


def test_only_long_yaml_is_read_by_the_fast_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its errors do not show the line."""
    chosen: list[bool] = []

    def seen(*, fast: bool) -> Any:
        chosen.append(fast)
        return yaml_loader(fast=fast)

    monkeypatch.setattr(parsing, "yaml_loader", seen)
    for size in (2**16, 2**16 + 1):
        parse_yaml(b"a: b #".ljust(size, b"x"))
    assert chosen == [False, True]


@pytest.mark.parametrize(
    ("value", "maximum", "size"),
    [
        ([[], {}, [1]], 3, 0),
        ([["abc"], {"a": "de"}], 10, 9),
        ({"a": ["b", ["c", "defg"]]}, 10, 11),
        ({"a": [1, 2.5, None]}, 10, 4),
    ],
)
def test_collections_and_their_size_have_a_maximum(
    value: Any, maximum: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size is that of values and characters; exactly the maximum is legal."""
    if not size:
        check_collections(value, 4)
        with pytest.raises(LimitError, match="more than 3 lists and mappings"):
            check_collections(value, 3)
        check_collections(value)
        return
    monkeypatch.setattr(limits, "MAX_YAML_EXPANDED", size)
    check_collections(value, maximum)
    for less in range(size):
        monkeypatch.setattr(limits, "MAX_YAML_EXPANDED", less)
        with pytest.raises(LimitError, match=f"more than {less} values and characters"):
            check_collections(value, maximum)
    check_collections(value)
