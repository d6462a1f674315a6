"""Addresses of object stores, and the refusal of a store at one."""

from pathlib import Path

import pytest

from ragstone.core.object_urls import object_url
from ragstone.core.store import Store
from ragstone.errors import StoreError


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("s3://bucket/a b/corpus.jsonl.gz", "s3://bucket/a b/corpus.jsonl.gz"),
        (Path("gs://bucket/corpus"), "gs://bucket/corpus"),
        (Path("file:///data/corpus"), "file:///data/corpus"),
        ("https://example.org/corpus", ""),
        ("C:/data", ""),
        ("data/s3://x", ""),
        ("", ""),
    ],
)
def test_addresses_are_told_from_paths(written: str | Path, expected: str) -> None:
    """Only schemes of object stores count, also after the two slashes became one."""
    assert object_url(written) == expected


def test_a_store_on_an_object_store_is_refused() -> None:
    """A store on an object store is refused with the reason and the way out."""
    with pytest.raises(StoreError, match=r"s3://bucket/store: object stores have neither locks"):
        Store(Path("s3://bucket/store"))
