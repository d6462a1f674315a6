"""Experiments that are part of the package: `ragstone run demo` runs the one in `demo.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent


def find_example(written: Path) -> Path:
    """Return the shipped experiment file of a bare name, else the path unchanged.

    A file or a folder of that name in the current folder comes first.

    >>> find_example(Path("demo")).name, find_example(Path("demo.yaml")).name
    ('demo.yaml', 'demo.yaml')
    >>> find_example(Path("my-file"))
    PosixPath('my-file')
    """
    shipped = FOLDER / f"{written}.yaml"
    is_name = written.name == str(written) and not written.suffix
    return shipped if is_name and not written.exists() and shipped.is_file() else written
