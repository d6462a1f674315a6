"""Pruning when its embedder fails for some texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ragstone.components.processors.pruning import Pruning
from ragstone.core.component import Outcome, run_component
from ragstone.protocols import Services
from ragstone.types import Context, ContextPassage, Query, Task


@dataclass(frozen=True)
class Refusing:
    """Cannot embed a text with a question mark in its middle."""

    def embed(self, text: str) -> Any:
        """Return a vector of ones, or none with the reason."""
        if "?!" in text:
            return Outcome(None, "the server is busy", retry=True)
        return np.ones(2, dtype=np.float32)


@pytest.mark.parametrize(("query", "text"), [("Where?!", "Here."), ("Where?", "One. What?! Two.")])
def test_a_text_that_cannot_be_embedded_leaves_its_context_alone(query: str, text: str) -> None:
    """The outcome has no value and the reason; the contexts of other queries are pruned."""
    tasks = [
        Task(Query(q, asked), Context(q, "retrieved(1)", (ContextPassage("p", said, "retrieved"),)))
        for q, asked, said in (("bad", query, text), ("good", "Who?", "Me. You."))
    ]

    pruning = Pruning(keep=0.5, embedder=f"{__name__}:Refusing")
    bad, good = run_component(pruning, Services(), tasks)

    assert (bad.value, bad.reason, bad.retry) == (None, "the server is busy", True)
    assert [passage.text for passage in good.value.passages] == ["Me."]
