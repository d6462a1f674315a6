"""Fingerprints are stable, and only plain data has one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
from arro3.core import Table
from hypothesis import given
from hypothesis import strategies as st

from ragstone.components.query_formers.translation import Translation
from ragstone.core import fingerprint as module
from ragstone.core.component import (
    IN_CACHE_KEY_IF_SET,
    KEY_BY_CONTENT,
    NOT_IN_CACHE_KEY,
    Component,
)
from ragstone.core.fingerprint import (
    cache_key_parts,
    count_characters,
    digest_file,
    digest_table,
    fingerprint,
    sources,
    without_sources,
)
from ragstone.core.schemas import CONTEXTS, SCORES, to_table
from ragstone.core.user_code import class_name
from ragstone.errors import ConfigError

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A component for tests."""

    size: int = 1
    device: str = field(default="cpu", metadata=NOT_IN_CACHE_KEY)
    later: str = field(default="no", metadata=IN_CACHE_KEY_IF_SET)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1: "a"}, {"a"}, object(), b"bytes", Path("a"), [object()]],
)
def test_other_values_than_plain_data_are_refused(value: object) -> None:
    """A value whose text could change from run to run cannot be part of a key."""
    with pytest.raises(TypeError, match="cannot fingerprint"):
        fingerprint(value)


def test_true_is_not_one() -> None:
    """Values that are equal in Python but differ as text have different fingerprints."""
    assert len({fingerprint(value) for value in (True, 1, 1.0, "1")}) == 4


def test_fields_that_cannot_change_the_output_stay_out_of_the_key() -> None:
    """The device does not change the key; the size does."""
    assert cache_key_parts(Part(device="gpu")) == cache_key_parts(Part())
    assert cache_key_parts(Part(size=2)) != cache_key_parts(Part())


def test_a_later_field_is_in_the_key_only_if_it_is_set() -> None:
    """Kept results of a component stay valid when it gets a parameter."""
    assert "later" not in cache_key_parts(Part())["parameters"]
    assert cache_key_parts(Part(later="yes"))["parameters"]["later"] == "yes"


def test_a_fingerprint_is_the_sha_256_of_json_in_ascii_without_blanks() -> None:
    """Another form would make all stored results look new."""
    value = {"ü": [1, 2.5, None], "a": {"c": True, "b": ("x",)}}
    text = b'{"a":{"b":["x"],"c":true},"\\u00fc":[1,2.5,null]}'

    assert fingerprint(value) == hashlib.sha256(text).hexdigest()


@dataclass(frozen=True)
class Weights(Component):
    """A component with a file, a part and a revision."""

    file: str = "a.bin"
    other: str = field(default="b.bin", metadata=KEY_BY_CONTENT)
    third: str = field(default="c.bin", metadata=KEY_BY_CONTENT)
    part: Any = Part()
    revision: str | None = "r1"
    keys: ClassVar[Mapping[str, Any]] = {"other": "content of b", "more": [1]}

    @property
    def content_revision(self) -> str | None:
        """The revision of the weights."""
        return self.revision

    @property
    def key_values(self) -> Mapping[str, Any]:
        """What fields stand for."""
        return self.keys


def test_the_key_of_a_component_has_its_name_its_code_and_what_decides_its_output() -> None:
    """A file is in the key by its content, and a part with its own key."""
    made = cache_key_parts(Weights(other="moved.bin"))

    assert made["component"] == class_name(Weights)
    assert made["parameters"] == {
        "file": "a.bin",
        "other": "content of b",
        "part": cache_key_parts(Part()),
        "revision": "r1",
        "more": [1],
    }
    assert (made["revision"], len(made["source"])) == ("r1", 64)
    assert "revision" not in cache_key_parts(Weights(revision=None))
    assert "revision" not in cache_key_parts(Part())


def test_a_component_of_the_package_has_its_name_of_the_table() -> None:
    """A renamed one keeps its former name in keys."""
    assert cache_key_parts(Translation("fr"))["component"] == "query_formers/translation"


@pytest.mark.parametrize("value", [Part, "bm25", 3, None])
def test_only_an_instance_of_a_dataclass_has_a_key(value: object) -> None:
    """A class has no parameters yet."""
    with pytest.raises(TypeError, match="is not a component"):
        cache_key_parts(value)


def test_a_parameter_that_is_not_plain_data_is_named() -> None:
    """The error has the class, the parameter and what it may be."""
    with pytest.raises(ConfigError, match=r"^Weights: cannot .* a set: .* 'file' is") as caught:
        cache_key_parts(Weights(file={"a"}))  # type: ignore[arg-type]
    assert caught.value.key == "file"
    with pytest.raises(TypeError, match="cannot fingerprint a type"):
        fingerprint([Part])


def test_digests_of_code_are_found_in_nested_key_parts() -> None:
    """A parameter of the name `source` is not one."""
    inner = {"component": "b", "source": "2", "parameters": {"source": "wiki", "n": [3]}}
    made = {"component": "a", "source": "1", "parameters": {"parts": [inner, inner], "x": "y"}}

    assert list(sources([made, "text", inner])) == ["1", "2", "2", "2"]
    bare = {"component": "b", "parameters": {"source": "wiki", "n": [3]}}
    assert without_sources([made, 4]) == [
        {"component": "a", "parameters": {"parts": [bare, bare], "x": "y"}}, 4
    ]  # fmt: skip


def contexts(rows: int) -> Table:
    """Return contexts of 24 or 40 characters: of every second row the lists are missing."""
    lists = [["ab", "äb"] if n % 2 else None for n in range(rows)]
    columns = {"passage_ids": lists, "texts": lists, "origins": lists}
    return to_table(
        CONTEXTS,
        {"query_id": [f"{n:05}" for n in range(rows)], "setting": ["gold"] * rows, **columns},
    )


def test_characters_of_a_table() -> None:
    """A number has eight, and what is missing has none."""
    numbers: dict[str, list[Any]] = {
        "value": [0.5, None],
        "status": ["scored", "failed"],
        "reason": ["", "late"],
    }
    table = to_table(SCORES, {"query_id": ["q", "qä"], "metric": ["EM", "F1"], **numbers})
    assert count_characters(table) == (1 + 2 + 8 + 6) + (2 + 2 + 6 + 4)
    assert count_characters(contexts(2)) == (5 + 4) + (5 + 4 + 3 * 4)
    assert count_characters(contexts(0)) == 0


def test_a_large_table_is_hashed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its characters decide, and its pieces in memory change nothing; the digests are pinned."""
    table, longer = contexts(9000), contexts(9001)
    pieces = Table.from_batches(
        [b for n in range(0, 9000, 700) for b in table.slice(n, min(700, 9000 - n)).to_batches()]
    )
    small, characters = digest_table(table), count_characters(table)
    cut = longer.slice(0, 9000)

    assert module.SMALL == 2**28
    assert small == digest_table(pieces)
    monkeypatch.setattr(module, "SMALL", characters)
    assert digest_table(table) == small
    monkeypatch.setattr(module, "SMALL", characters - 1)
    assert small != digest_table(table) == digest_table(pieces) == digest_table(cut)
    assert (small[:12], digest_table(table)[:12]) == ("4f92e771ba65", "e9f3be8e3fc9")


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    """As `sha256sum` prints it."""
    (tmp_path / "a").write_bytes(b"abc")

    assert digest_file(tmp_path / "a") == hashlib.sha256(b"abc").hexdigest()


@given(st.dictionaries(st.text(), PLAIN))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    """A mapping and its reverse have the same fingerprint."""
    assert fingerprint(value) == fingerprint(dict(reversed(value.items())))
