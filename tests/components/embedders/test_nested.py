"""Embedders as components write them: found beside the experiment file, and of the kind needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.calls.client import Calls
from ragstone.core.registry import create
from ragstone.errors import ConfigError

OWN = """
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Own:
    way: str = ""

    def with_calls(self, calls):
        return replace(self, way="known")

    def embed_queries(self, texts):
        return np.ones((len(texts), 2), dtype=np.float32)

    embed_passages = embed_queries
"""


@pytest.mark.parametrize(("kind", "name"), [("retrievers", "dense"), ("processors", "pruning")])
def test_an_embedder_beside_the_experiment_file_is_found(
    kind: str, name: str, tmp_path: Path
) -> None:
    """When the component is made, and when it is given the way to its embedder's server."""
    (tmp_path / "own_embedder.py").write_text(OWN)

    made = create(kind, {"name": name, "embedder": "own_embedder:Own"}, where="it", folder=tmp_path)

    with Calls.at(tmp_path / "calls.sqlite") as calls:
        assert made.with_calls(calls)._embedder.way == "known"
    assert made._embedder.way == ""


@pytest.mark.parametrize(
    ("kind", "written", "told"),
    [
        ("retrievers", "dense(embedder=splade)", "one vector per text .*take the .* 'sparse'"),
        ("retrievers", "dense(embedder=minilm-tokens)", "take the retriever 'late-interaction'"),
        ("retrievers", "late-interaction(embedder=minilm)", "one vector per token .* 'dense'"),
        ("rerankers", "maxsim(embedder=minilm)", "one vector per token"),
        ("processors", "pruning(embedder=splade)", "one vector per text"),
    ],
)
def test_an_embedder_of_another_kind_is_told(kind: str, written: str, told: str) -> None:
    """Before anything is run, with what would take it."""
    with pytest.raises(ConfigError, match=told):
        create(kind, written, where="it")


def test_token_embedders_are_written_as_others_are() -> None:
    """A mapping with parameters will do."""
    written = {"name": "maxsim", "embedder": {"name": "minilm-tokens", "max_tokens": 64}}

    assert create("rerankers", written, where="it")._embedder.max_tokens == 64
