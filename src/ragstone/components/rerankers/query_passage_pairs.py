"""Cross-encoders: rerankers whose model scores a query and a passage together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ragstone.components.rerankers.depth import DepthReranker, check_scores, heads, reordered
from ragstone.core.component import Outcome
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.types import Ranking, Search

Pair: TypeAlias = tuple[str, str]
_BINARY: Final = 2


class PairReranker(DepthReranker):
    """A reranker by a cross-encoder; its fields are declared by each reranker."""

    model: str
    max_tokens: int
    sizes: ClassVar[tuple[str, ...]] = ("top_k", "max_tokens")

    @abstractmethod
    def score(self, pairs: Sequence[Pair]) -> tuple[list[float], int]:
        """Return one score per (query, passage), in order, and the number of cut pairs."""

    def rerank(
        self, searches: Sequence[Search], rankings: Sequence[Ranking], services: Services
    ) -> Iterator[Outcome[Ranking]]:
        """Yield one ranking per search, in order.

        Raises:
            RagstoneError: the model returns a score that is not finite.
        """
        shown = heads(rankings, self.depth)
        pairs = [
            (search.text, services.corpus[passage_id].full_text)
            for search, ids in zip(searches, shown, strict=True)
            for passage_id in ids
        ]
        scores, cut = self.score(pairs) if pairs else ([], 0)
        add_note(f"pairs of query and passage cut to {self.max_tokens} tokens", cut)
        rest = iter(scores)
        for search, ids in zip(searches, shown, strict=True):
            part = [next(rest) for _ in ids]
            check_scores(part, ids, search.text, f"the cross-encoder {self.model!r}")
            yield Outcome(reordered(ids, part, self.top_k))


def one_score(logits: npt.NDArray[Any], model: str) -> npt.NDArray[np.float64]:
    """Return a score per row of a classifier's output, of shape (n, classes).

    With one class it is the output itself, with two the log-odds of the second ("relevant") against
    the first.

    Raises:
        ConfigError: the model has more classes.

    >>> one_score(np.array([[1.0, 3.0]]), "m").tolist(), one_score(np.array([[0.5]]), "m").tolist()
    ([2.0], [0.5])
    """
    output = np.asarray(logits, dtype=np.float64)
    if output.ndim == _BINARY and output.shape[1] == 1:
        scores: npt.NDArray[np.float64] = output[:, 0]
        return scores
    if output.ndim == _BINARY and output.shape[1] == _BINARY:
        return output[:, 1] - output[:, 0]
    raise ConfigError(
        f"the model {model!r} cannot rank passages: its output has the shape "
        f"{output.shape}, expected one column, or two (not relevant, relevant)"
    )
