"""What this machine runs: the part of a record that explains a number years later."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Final

WATCHED: Final = (
    "ragstone", "numpy", "arro3-core", "arro3-io", "PyStemmer", "onnxruntime", "onnx", "tokenizers",
    "safetensors", "xllamacpp", "torch", "transformers",
)  # fmt: skip
"""Packages whose version can change a result."""


def describe_environment() -> dict[str, str]:
    """Return the Python version, the kind of machine and the versions of installed packages.

    No host name, user name or path: a record may be published.
    """
    facts = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    return facts | {name: version for name in WATCHED if (version := installed(name))}


def installed(package: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
