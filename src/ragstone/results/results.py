"""Results of an experiment: the public face over the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.core.component import component_error
from ragstone.core.registry import create
from ragstone.core.user_code import is_ours
from ragstone.errors import RagstoneError
from ragstone.results.html import write_report
from ragstone.results.reader import StoredResults
from ragstone.results.terminal import leaderboard_text


class Results(StoredResults):
    """Results of an experiment.

    >>> import ragstone
    >>> results = ragstone.load_experiment("examples/demo.yaml").run()  # doctest: +SKIP
    >>> results  # doctest: +SKIP
    Results('demo', 2 systems x 4 settings, 16 queries, finished)
    >>> results.report("report.html")  # doctest: +SKIP
    """

    def __repr__(self) -> str:
        """Return one line: the name, the sizes and whether all trials ended."""
        systems, settings = len(self.systems), len(self.settings)
        state = "finished" if self.finished else "not finished"
        count = self.record.data.answered if settings else self.record.data.ranked
        sizes = f"{systems} systems x {settings} settings, {count} queries"
        return f"Results({self.name!r}, {sizes}, {state})"

    def __str__(self) -> str:
        """Return the tables of the terminal."""
        return leaderboard_text(self)

    def report(self, path: str | Path) -> Path:
        """Write the report as one self-contained HTML file and return its path."""
        return write_report(self, Path(path))

    def export(
        self, target: str | Path, to: str | Mapping[str, Any] = "inspector"
    ) -> Sequence[Path]:
        """Write the results in another tool's format and return the files.

        Args:
            target: the file or the folder to write.
            to: an exporter: `inspector`, `mtrageval`, `trec`, or your own class.

        Raises:
            ConfigError: the exporter is unknown, or the results have nothing to export.
            DatasetError: a file exists already.
        """
        exporter = create("exporters", to, where="export", folder=Path())
        try:
            files: Sequence[Path] = exporter.export(self, Path(target))
        except Exception as error:
            if is_ours(type(exporter)) or isinstance(error, RagstoneError):
                raise
            raise component_error(exporter, error) from error
        return files
