"""Taxonomies by name and by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data.taxonomy import load_taxonomy, own_taxonomies
from ragstone.errors import ConfigError


def test_taxonomies_have_names_and_files(tmp_path: Path) -> None:
    """Two come with Ragstone; a file needs two labels without a separator in their names."""
    assert own_taxonomies() == ["know-your-rag", "mtrag-question-types"]
    assert [load_taxonomy(name).name for name in own_taxonomies()] == own_taxonomies()
    (tmp_path / "my.yaml").write_text("name: my\ntask: Which?\nlabels: {a;b: x, c: y}\n")
    with pytest.raises(ConfigError, match="contains ';'"):
        load_taxonomy(str(tmp_path / "my.yaml"))
    with pytest.raises(ConfigError, match="one of: know-your-rag, mtrag-question-types"):
        load_taxonomy("none")
