"""Addresses of object stores, as `s3://bucket/corpus.jsonl.gz`."""

from __future__ import annotations

import re
from typing import Final

SCHEMES: Final = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci"})
"""Stores on other machines."""
_LOCAL: Final = frozenset({"file", "memory"})
_URL: Final = re.compile(r"([a-z][a-z0-9]*):/+(.*)", re.DOTALL)


def object_url(written: object) -> str:
    """Return an address of an object store, also if it was made a `Path`; "" for other paths.

    >>> object_url("s3:/bucket/corpus.jsonl"), object_url("corpus.jsonl")
    ('s3://bucket/corpus.jsonl', '')
    """
    found = _URL.fullmatch(str(written))
    if found is None or found[1] not in SCHEMES | _LOCAL:
        return ""
    return f"{found[1]}://{'/' if found[1] in _LOCAL else ''}{found[2]}"
