"""Records and passports without the values of headers and addresses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.likely_secrets import MARK
from ragstone.results.passport_diff import _hidden
from ragstone.results.publishable import comparable, has_hidden, publishable, recordable


def _file(**generator: Any) -> dict[str, Any]:
    return {"systems": [{"name": "mine", "generator": {"name": "http", **generator}}]}


def _generator(file: dict[str, Any]) -> Any:
    return file["systems"][0]["generator"]


def test_a_record_keeps_names_and_hides_values(tmp_path: Path) -> None:
    """References, listed names and plain headers stay; the key is the user's alone."""
    file = _file(
        url="https://me:p4ss@a.example/ask?top_k=5&sig=abc&key={env:KEY}&empty=",
        headers={"X-Tenant": "acme", "Accept": "text/plain", "Authorization": "Bearer {api_key}"},
        body={"query": "{query}", "api_key": "0123456789"},
        show=["top_k"],
    )
    kept = _generator(recordable(file, tmp_path))
    assert MARK.sub("#", kept["url"]) == (
        "https://#@a.example/ask?top_k=5&sig=#&key={env:KEY}&empty="
    )
    assert MARK.fullmatch(kept["headers"].pop("X-Tenant"))
    assert kept["headers"] == {"Accept": "text/plain", "Authorization": "Bearer {api_key}"}
    assert MARK.fullmatch(kept["body"]["api_key"])
    assert (tmp_path / "identity.key").stat().st_mode & 0o777 == 0o600
    again = recordable(file, tmp_path)
    assert recordable(again, tmp_path) == again == comparable(file, tmp_path)
    assert has_hidden(again)
    shown = _generator(publishable(again))
    assert shown["url"] == kept["url"].replace(kept["url"][8:].split("@")[0] + "@", "")


def test_a_file_without_secrets_is_recorded_as_it_is(tmp_path: Path) -> None:
    """No key is made."""
    file = _file(url="https://a.example/ask", headers={"X-Tenant": "{env:TENANT}"})
    assert recordable(file, tmp_path) == comparable(file, tmp_path) == file
    assert not has_hidden(file)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("store", "told"), [("a", ""), ("b", ": cannot be compared")])
def test_values_are_compared_within_one_store(tmp_path: Path, store: str, told: str) -> None:
    """A digest of another store tells nothing about the value."""
    files = [_file(url=f"https://a.example/ask?sig={value}") for value in ("one", "two")]
    before = recordable(files[0], tmp_path / "a")
    assert list(_hidden(before, recordable(files[0], tmp_path / "a"))) == []
    (change,) = _hidden(before, recordable(files[1], tmp_path / store))
    assert change.what.startswith(f"systems.mine.generator.url{told}")
    assert "one" not in f"{change}"


def test_a_store_is_private_whatever_the_umask(tmp_path: Path) -> None:
    """Its folder and the key in it."""
    before = os.umask(0o022)
    try:
        recordable(_file(headers={"X": "abc"}, url=""), tmp_path / "new" / "store")
    finally:
        os.umask(before)
    assert (tmp_path / "new" / "store").stat().st_mode & 0o777 == 0o700
