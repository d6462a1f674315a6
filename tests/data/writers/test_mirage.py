"""MIRAGE's form as a layout. `tests/building/test_mirage.py` reads it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data.dataset import Dataset
from ragstone.data.writers.mirage import write_mirage
from ragstone.errors import DatasetError


def test_a_query_without_a_relevant_passage_is_refused(tmp_path: Path) -> None:
    """The form has an oracle passage for each query; the query is named."""
    data = Dataset.from_records(queries=[{"query_id": "q", "text": "Why?"}])
    with pytest.raises(DatasetError, match="query 'q' has no relevant passage"):
        write_mirage(data, tmp_path)
    assert not list(tmp_path.iterdir())
