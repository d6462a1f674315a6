"""The file of a passport: canonical JSON with a checksum, alone or inside a report."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.atomic_files import write_document
from ragstone.core.parsing import parse_json
from ragstone.core.regular_files import check_regular
from ragstone.errors import ConfigError

KIND: Final = "ragstone passport"
FORMAT: Final = 1
_IN_REPORT: Final = re.compile(
    r'<script type="application/json" id="passport">(.*?)</script>', re.DOTALL
)


def canonical(value: object) -> str:
    """Return JSON with sorted keys, without white space, and with the shortest exact numbers.

    >>> canonical({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a passport of some content: with its kind, its format and its checksum."""
    # Dataclasses contain tuples, which JSON does not have.
    plain: dict[str, Any] = json.loads(canonical({**content, "kind": KIND, "format": FORMAT}))
    return {**plain, "checksum": digest(plain)}


def write_passport(passport: Mapping[str, Any], path: Path) -> Path:
    """Write a passport and return its path; raise `StoreError` if the file cannot be written."""
    text = json.dumps(passport, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return write_document(path, f"{text}\n".encode(), "passport")


def read_passport(path: Path) -> dict[str, Any]:
    """Return the passport in a file, or in a report that contains one.

    Raises:
        ConfigError: the file cannot be read, is not a passport, has a newer format, or its checksum
            does not fit its content.
    """
    document = _read(path)
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ConfigError(
            f"{path} is not a passport; write one with: ragstone passport EXPERIMENT.yaml -o FILE",
            path=path,
        )
    if document.get("format") != FORMAT:
        raise ConfigError(
            f"{path} has format {document.get('format')} of passports, this version reads format "
            f"{FORMAT}; upgrade with: pip install -U ragstone",
            path=path,
        )
    content = {key: value for key, value in document.items() if key != "checksum"}
    if document.get("checksum") != digest(content):
        raise ConfigError(
            f"the passport {path} was changed after it was written: its checksum is "
            f"{str(document.get('checksum'))[:12]}, that of its content {digest(content)[:12]}; "
            "get the original file, or write a new passport",
            path=path,
        )
    from ragstone.results.passport_shape import shape_problem

    if problem := shape_problem(document):
        raise ConfigError(f"the passport {path} {problem}", path=path)
    return document


def _read(path: Path) -> object:
    try:
        check_regular(path)
        if path.stat().st_size > limits.MAX_DOCUMENT_BYTES:
            raise ConfigError(
                f"{path} is larger than {limits.MAX_DOCUMENT_BYTES:,} bytes", path=path
            )
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the passport {path}: {error}", path=path) from error
    if text.lstrip()[:1] == "<":
        found = _IN_REPORT.search(text)
        if found is None:
            raise ConfigError(f"the page {path} contains no passport", path=path)
        text = found[1]
    try:
        document: object = parse_json(text.encode())
    except ValueError as error:
        raise ConfigError(f"{path} is damaged: it is not valid JSON: {error}", path=path) from error
    return document
