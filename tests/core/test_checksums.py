"""Checksums bind a document to its content and its place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ragstone.core import checksums
from ragstone.core.checksums import digest_once, seal, unseal


@pytest.mark.parametrize(
    "document", [{}, {"a": (1, 2), "b": {"c": None}}, {"x": 0.1, "y": float("inf")}, {"n": {1: 2}}]
)
def test_a_sealed_document_is_read_back(document: dict[Any, Any]) -> None:
    """Tuples, numbers that are not finite and keys that are numbers are as JSON has them."""
    sealed = seal(document, "notes/a.json")

    assert seal(unseal(sealed, "notes/a.json"), "notes/a.json") == sealed


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"a": 2}, "notes/a.json", "its content differs"),
        ({"b": 1}, "notes/a.json", "its content differs"),
        ({}, "notes/b.json", "its content differs"),
        ({"checksum": "0"}, "notes/a.json", "its content differs"),
    ],
)
def test_another_content_or_place_is_found(change: Any, place: str, said: str) -> None:
    """A changed value, a new key, another place and another checksum."""
    with pytest.raises(ValueError, match=said):
        unseal({**seal({"a": 1}, "notes/a.json"), **change}, place)


@pytest.mark.parametrize("document", [{"a": 1}, [], None, "text"])
def test_a_document_without_a_checksum_is_refused(document: object) -> None:
    """Earlier versions wrote none."""
    with pytest.raises(ValueError, match="without a checksum"):
        unseal(document, "notes/a.json")


def test_a_file_is_hashed_once_while_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also under another name, but not after a change."""
    hashed: list[str] = []

    def digest_file(path: Path) -> str:
        hashed.append(path.name)
        return path.read_text()

    monkeypatch.setattr(checksums, "digest_file", digest_file)
    path = tmp_path / "a"
    path.write_text("one")
    assert [digest_once(path), digest_once(path)] == ["one", "one"]
    path = path.rename(tmp_path / "b")
    assert digest_once(path) == "one"
    path.write_text("two")
    os.utime(path, ns=(0, 1))
    assert digest_once(path) == "two"
    assert hashed == ["a", "b"]
