"""multilingual-e5-small in 4 bit: the encoder of 100 languages that runs without torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.step_notes import ROLES, add_note
from ragstone.models.e5_engine import WINDOW, check_engine, engine_digest, load_engine
from ragstone.protocols import Embedder, Role, Services


@dataclass(frozen=True)
class E5Small(Embedder):
    """multilingual-e5-small: the mean-pooled and L2-normalised token vectors (384 dimensions).

    The prefixes "query: " and "passage: " are the model's own. A text of more than 512 tokens is
    not cut: its vector is the average of its windows of 512, and such texts are counted.

    Args:
        threads: threads of the engine; by default the number of cores.
    """

    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    needs_model = True
    texts_per_call = 256
    sizes = ("threads",)
    dimension = 384

    @cached_property
    def content_revision(self) -> str:
        """The digest of the weights and of the engine."""
        return engine_digest()

    def check(self, services: Services) -> None:
        """Raise if the engine does not run on this machine, or a file is missing or damaged."""
        check_engine()

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterable[Outcome[Any]]:
        """Return one vector of length 1 per text."""
        engine, query = load_engine(), role == "query"
        parted = sum(engine.tokens(text, query=query) > WINDOW for text in texts)
        add_note(f"{ROLES[role]} read in windows of {WINDOW} tokens", parted)
        return map(Outcome, engine.embed(texts, queries=query, threads=self.threads))
