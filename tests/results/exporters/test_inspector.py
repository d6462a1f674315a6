"""Tasks of InspectorRAGet and MTRAGEval: labels of the data set, and none that are detected."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.parallel_set import records, run

from ragstone.results.exporters.base import Exporter
from ragstone.results.exporters.inspector import Inspector
from ragstone.results.exporters.mtrageval import MtragEval


@pytest.mark.parametrize("exporter", [Inspector(), MtragEval()])
def test_a_detected_language_is_not_exported_as_a_label(tmp_path: Path, exporter: Exporter) -> None:
    """A query without a label keeps none; a stated language stays."""
    rows = records(("en", "de"))
    for row in rows["queries"]:
        del row["parallel"]
        if row["_id"] != "de/Alba":
            del row["language"]

    results = run(tmp_path, rows)
    files = exporter.export(results, tmp_path / "out")

    assert results.queries["en/Alba"].labels["language"] == "en"
    for text in (path.read_text(encoding="utf-8") for path in files):
        assert '"labels":{"language":"en"}' not in text.replace(" ", "")
        assert text.replace(" ", "").replace("\n", "").count('"labels":{"language":"de"}') == 1
