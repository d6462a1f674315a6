"""The vendored scripts are the published ones."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

FOLDER = (
    Path(__file__).resolve().parents[2] / "src" / "ragstone" / "results" / "templates" / "vendor"
)


def test_vendored_files_have_the_hashes_noted() -> None:
    """Every file is listed in VENDORED.md, and has the SHA-256 given there."""
    listed = re.findall(
        r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", (FOLDER / "VENDORED.md").read_text(), re.MULTILINE
    )
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in FOLDER.iterdir()
        if path.name != "VENDORED.md"
    }

    assert dict(listed) == found
