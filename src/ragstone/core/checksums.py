"""Checksums of the store's documents and files: damage is found when they are read.

A document contains a checksum of its content and of its place in the store, so a document that
replaces another one is found too. A manifest contains the digests of the files beside
it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.core.fingerprint import digest_file, digest_json
from ragstone.core.redaction import redacted_data
from ragstone.errors import DamagedFile

MANIFEST: Final = "manifest.json"
TABLE: Final = "table.parquet"
CHECKSUM: Final = "checksum"
_digests: Final[dict[tuple[int, ...], str]] = {}


def seal(document: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a document as JSON reads it back, with the checksum of its content and its place.

    It contains no secret that is known.
    """
    read_back: dict[str, Any] = redacted_data(json.loads(json.dumps(document)))
    return {**read_back, CHECKSUM: digest_json([place, read_back])}


def unseal(document: object, place: str) -> dict[str, Any]:
    """Return a sealed document without its checksum; raise `ValueError` if it has another one."""
    if not isinstance(document, dict) or CHECKSUM not in document:
        raise ValueError("it was written by an earlier version of Ragstone, without a checksum")
    content = {key: value for key, value in document.items() if key != CHECKSUM}
    if document[CHECKSUM] != digest_json([place, content]):
        raise ValueError("its content differs from its checksum")
    return content


def read_document(path: Path, root: Path) -> dict[str, Any]:
    """Return a sealed document of the store `root`.

    Raises:
        DamagedFile: the document is missing or not as written. `document` is its content if it is
            JSON without a checksum, as earlier versions wrote it.
    """
    document: Any = None
    try:
        document = json.loads(path.read_bytes())
        return unseal(document, path.relative_to(root).as_posix())
    except FileNotFoundError as error:
        raise DamagedFile(path, "it is missing", store=root) from error
    except (OSError, ValueError, RecursionError) as error:
        unsealed = isinstance(document, dict) and CHECKSUM not in document
        what = str(error) if document is not None else f"it cannot be read: {error}"
        raise DamagedFile(
            path, what, store=root, document=document if unsealed else None
        ) from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder of the store; raise `DamagedFile` as `read_document` does."""
    return read_document(folder / MANIFEST, folder.parents[1])


def verify_files(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise `DamagedFile` if a file of a folder is missing or differs from its manifest's digest.

    A file that did not change is hashed once per process.
    """
    for name, digest in file_digests(manifest).items():
        path = folder / name
        try:
            same = digest == digest_once(path)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            what = "it is missing" if missing else f"it cannot be read: {error.strerror}"
            raise DamagedFile(path, what, store=folder.parents[1]) from error
        if not same:
            what = "its bytes differ from the digest in its manifest"
            raise DamagedFile(path, what, store=folder.parents[1])


def file_digests(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the digests of a manifest: file name -> SHA-256 of its bytes."""
    files: Mapping[str, str] = manifest.get("files") or {}
    return {TABLE: manifest["file_digest"]} if "file_digest" in manifest else files


def digest_once(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, computed once per process while the file is the same.

    A renamed file is the same; one with another size or time of change is not.
    """
    found = path.stat()
    state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    if state not in _digests:
        _digests[state] = digest_file(path)
    return _digests[state]


def forget_digests() -> None:
    """Let every file be hashed again, as in a new process."""
    _digests.clear()
