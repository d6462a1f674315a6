"""What rerankers have in common that score a query and a passage together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ragstone.components.rerankers.depth import check_places, check_scores, heads, reordered
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.data.corpus import Corpus

Pair: TypeAlias = tuple[str, str]
_BINARY: Final = 2


class PairReranker:
    """A model that reads a query and a passage at once. The fields belong to the rerankers."""

    model: str
    top_k: int
    depth: int
    max_tokens: int

    @abstractmethod
    def score(self, pairs: Sequence[Pair]) -> tuple[list[float], int]:
        """Return one score per (query, passage), in order, and how many pairs were cut."""

    def check_fields(self) -> None:
        """Raise `ConfigError` for fields that cannot be."""
        check_places(self.top_k, self.depth)
        if self.max_tokens < 1:
            raise ConfigError(f"max_tokens must be 1 or more, found {self.max_tokens}")

    def rerank(
        self, searches: Sequence[Search], rankings: Sequence[Ranking], corpus: Corpus
    ) -> list[Ranking]:
        """Return one ranking per search, in order.

        Raises:
            RagstoneError: the model gives a score that is no number.
        """
        shown = heads(rankings, self.depth)
        pairs = [
            (search.text, corpus[passage_id].full_text)
            for search, ids in zip(searches, shown, strict=True)
            for passage_id in ids
        ]
        scores, cut = self.score(pairs) if pairs else ([], 0)
        add_note(f"pairs of query and passage cut to {self.max_tokens} tokens", cut)
        found, place = [], 0
        for search, ids in zip(searches, shown, strict=True):
            part = scores[place : place + len(ids)]
            place += len(ids)
            check_scores(part, ids, search.text, f"the cross-encoder {self.model!r}")
            found.append(reordered(ids, part, self.top_k))
        return found


def one_score(logits: npt.NDArray[Any], model: str) -> npt.NDArray[np.float64]:
    """Return a score per row of a classifier's output, of shape (n, classes).

    With one class it is the output itself, with two the log-odds of the second ("relevant") against
    the first; a model with more is none that ranks, and a `ConfigError` says so.

    >>> one_score(np.array([[1.0, 3.0]]), "m").tolist(), one_score(np.array([[0.5]]), "m").tolist()
    ([2.0], [0.5])
    """
    held = np.asarray(logits, dtype=np.float64)
    if held.ndim == _BINARY and held.shape[1] == 1:
        scores: npt.NDArray[np.float64] = held[:, 0]
        return scores
    if held.ndim == _BINARY and held.shape[1] == _BINARY:
        return held[:, 1] - held[:, 0]
    raise ConfigError(
        f"the model {model!r} is no cross-encoder that ranks: its output has the shape "
        f"{held.shape}, expected one column, or two (not relevant, relevant)"
    )
