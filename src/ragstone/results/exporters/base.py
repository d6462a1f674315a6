"""The protocol of exporters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragstone.core.component import Component
from ragstone.results.reader import StoredResults


class Exporter(Component):
    """Writes the results of an experiment in another tool's format."""

    verb = "export"

    def export(self, results: StoredResults, target: Path) -> Sequence[Path]:
        """Write the file or the folder `target` and return the files.

        Raises:
            ConfigError: the results have nothing to export.
            DatasetError: a file exists already.
        """
        raise NotImplementedError


def file_name(name: str) -> str:
    """Return the name of a system or setting with characters that a file name may contain.

    >>> file_name("bm25 + local"), file_name("gold+noise(3)")
    ('bm25---local', 'gold-noise-3')
    """
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-")
