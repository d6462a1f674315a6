"""The depth of rerankers, and rankings from new scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragstone.core import limits
from ragstone.errors import ConfigError, RagstoneError
from ragstone.types import Ranking


def check_places(top_k: int, depth: int) -> None:
    """Raise `ConfigError` unless `top_k` is between 1 and `depth`."""
    if top_k < 1:
        raise ConfigError(f"top_k must be 1 or more, found {top_k}")
    if top_k > depth:
        raise ConfigError(
            f"top_k is {top_k}, but only depth={depth} passages of a ranking are reranked; raise "
            "depth or lower top_k"
        )


def heads(rankings: Sequence[Ranking], depth: int) -> list[list[str]]:
    """Return the ids of the first `depth` passages of each ranking."""
    return [list(ranking.passage_ids[:depth]) for ranking in rankings]


def reordered(passage_ids: Sequence[str], scores: Sequence[float | None], top_k: int) -> Ranking:
    """Return passages by descending score, equal ones in their given order.

    A passage without a score (None) keeps its place, and the others are ordered around it.
    Metrics derive the order from the scores, as trec_eval does, and break ties by passage id.
    Scores therefore have no ties: a score that is not below the one before it is lowered to the
    next number in 32 bits.

    >>> ranking = reordered(["a", "b", "c", "d"], [0.1, None, 0.9, 0.9], 3)
    >>> ranking.passage_ids
    ['c', 'b', 'd']
    """
    known = [place for place, score in enumerate(scores) if score is not None]
    best = iter(sorted(known, key=lambda place: -(scores[place] or 0.0)))
    order = [place if score is None else next(best) for place, score in enumerate(scores)]
    found = [scores[place] for place in order[:top_k]]
    return Ranking([passage_ids[place] for place in order[:top_k]], falling(found))


def falling(scores: Sequence[float | None]) -> list[float]:
    """Return strictly falling scores; one that is missing is put just below the one before it.

    >>> falling([0.9, None, 0.1])
    [0.8999999761581421, 0.8999999165534973, 0.10000000149011612]
    """
    known = [score for score in scores if score is not None]
    least = np.float32(np.inf)
    found = []
    for score in scores:
        wanted = np.float32(score if score is not None else max(known, default=0.0))
        least = min(wanted, np.nextafter(least, np.float32(-np.inf)))
        found.append(float(least))
    return found


def by_place(passage_ids: Sequence[str], top_k: int) -> Ranking:
    """Return a ranking of which only the order counts: the first of n passages has the score n.

    >>> list(by_place(["b", "a"], 2).scores)
    [2.0, 1.0]
    """
    return Ranking(
        list(passage_ids[:top_k]),
        [float(score) for score in range(len(passage_ids), 0, -1)][:top_k],
    )


def check_scores(scores: Sequence[float], passage_ids: Sequence[str], query: str, who: str) -> None:
    """Raise `RagstoneError` if a score of a model is not finite."""
    for passage_id, score in zip(passage_ids, scores, strict=True):
        if not np.isfinite(score):
            raise RagstoneError(
                f"{who} gave passage {passage_id!r} the score {score} for the query "
                f"{query[: limits.MAX_VALUE_CHARACTERS]!r}; the model is damaged or was saved in "
                "too few bits"
            )
