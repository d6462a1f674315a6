"""Embedders as components write them: found, and of the output that is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.support import vectors

from ragstone.calls.client import Calls
from ragstone.core.registry import create
from ragstone.errors import ConfigError

OWN = """
from dataclasses import dataclass

import numpy as np

SEEN = []

@dataclass(frozen=True)
class Own:
    def embed(self, texts, calls):
        SEEN.append(calls)
        return np.ones((len(texts), 2), dtype=np.float32)
"""


@pytest.mark.parametrize(("kind", "name"), [("retrievers", "dense"), ("processors", "pruning")])
def test_an_embedder_beside_the_experiment_file_is_found(
    kind: str, name: str, tmp_path: Path
) -> None:
    """It is found when the component is created, and receives the calls of the services."""
    (tmp_path / "own_embedder.py").write_text(OWN)

    made = create(kind, {"name": name, "embedder": "own_embedder:Own"}, where="it", folder=tmp_path)

    with Calls.at(tmp_path / "calls.sqlite") as calls:
        assert len(vectors(made._embedder, "query", "a", "b", calls=calls)) == 2
        assert sys.modules[type(made._embedder).__module__].SEEN[-1] is calls


@pytest.mark.parametrize(
    ("kind", "written", "told"),
    [
        (
            "retrievers",
            "dense(embedder=splade)",
            "one vector per text, .*'splade' .*sparse .* 'sparse'",
        ),
        (
            "retrievers",
            "dense(embedder=minilm-tokens)",
            "use it with the retriever 'late-interaction'",
        ),
        ("retrievers", "late-interaction(embedder=minilm)", "one vector per token, .* 'dense'"),
        ("rerankers", "maxsim(embedder=minilm)", "one vector per token"),
        ("processors", "pruning(embedder=splade)", "one vector per text"),
    ],
)
def test_an_embedder_with_another_output_is_refused(kind: str, written: str, told: str) -> None:
    """It is refused when the component is created; the message names the retriever for it."""
    with pytest.raises(ConfigError, match=told):
        create(kind, written, where="it")


def test_token_embedders_are_written_as_others_are() -> None:
    """A mapping with parameters is accepted."""
    written = {"name": "maxsim", "embedder": {"name": "minilm-tokens", "max_tokens": 64}}

    assert create("rerankers", written, where="it")._embedder.max_tokens == 64
