"""Results of an experiment: the public face over what the store holds."""

from __future__ import annotations

from pathlib import Path

from ragstone.results.html import write_report
from ragstone.results.reader import StoredResults


class Results(StoredResults):
    """Results of an experiment.

    >>> import ragstone
    >>> results = ragstone.load_experiment("examples/demo.yaml").run()  # doctest: +SKIP
    >>> results.report("report.html")  # doctest: +SKIP
    """

    def report(self, path: str | Path) -> Path:
        """Write the report as one self-contained HTML file and return its path."""
        return write_report(self, Path(path))
