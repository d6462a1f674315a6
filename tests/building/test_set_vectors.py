"""The spread of queries in a vector space."""

from __future__ import annotations

import pytest

from ragstone.building.set_properties import Facts
from ragstone.building.set_vectors import vector_spread
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError


def queries(*texts: str) -> Facts:
    """Return a data set of these queries."""
    return Facts.of(
        Dataset.from_records(
            queries=[{"query_id": f"q{n}", "text": text} for n, text in enumerate(texts)]
        )
    )


@pytest.mark.needs("onnxruntime", model="all-minilm-l6-v2")
def test_different_subjects_are_wider_apart() -> None:
    """Of the same question in other words, the distance is small."""
    near = queries("Where is Lisbon?", "Where is Lisbon located?", "Where does Lisbon lie?")
    far = queries("Where is Lisbon?", "How do I bake bread?", "Who invented the telephone?")
    close, wide = vector_spread(near, "minilm"), vector_spread(far, "minilm")
    assert close.mean is not None
    assert wide.mean is not None
    assert close.mean < 0.2
    assert wide.mean > 0.7
    assert vector_spread(queries(), "minilm").mean is None


def test_only_dense_embedders_have_a_space() -> None:
    """Of an unknown one or another output, the error names the option."""
    with pytest.raises(
        ConfigError, match="--embedder: expected an embedder that returns one vector"
    ):
        vector_spread(queries("Who?"), "splade")
    with pytest.raises(ConfigError, match="--embedder: unknown embedder 'miniln'"):
        vector_spread(queries("Who?"), "miniln")
