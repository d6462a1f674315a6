"""Texts through an embedder: vectors that are checked, and a reason for each text without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core import limits
from ragstone.core.component import Outcome, run_component
from ragstone.errors import CallError, ConfigError, RagstoneError
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.core.progress import Bar
    from ragstone.protocols import Embedder, Role, Services


def embed_texts(
    embedder: Embedder, texts: Sequence[str], role: Role, services: Services, dimension: int = 0
) -> list[Outcome[Any]]:
    """Return the vectors of each text, in order and in 32 bits; None with the reason if it failed.

    Args:
        embedder: an embedder of any output.
        texts: queries or passages.
        role: the side of the search that the texts are on.
        services: the services of the step.
        dimension: expected length of a vector; 0 if it is not known yet.

    Raises:
        ConfigError: a vector has another shape or length, or is not finite.
    """
    # Without texts, no model is loaded.
    outcomes = run_component(embedder, services, texts, role=role) if texts else []
    for place, (text, outcome) in enumerate(zip(texts, outcomes, strict=True)):
        if outcome.value is not None:
            value = _checked(embedder, text, outcome.value)
            length = _length(value)
            dimension = dimension or length
            if length != dimension:
                raise ConfigError(
                    f"the embedder {embedder!r} returned vectors of {length} dimensions, and of "
                    f"{dimension} before; if its code changed, raise its version"
                )
            outcomes[place] = replace(outcome, value=value)
    return outcomes


def embed_passages(
    embedder: Embedder, places: Sequence[int], services: Services, bar: Bar, dimension: int = 0
) -> list[Any]:
    """Return the vectors of the passages at some places of the corpus.

    Raises:
        CallError: a passage could not be embedded because a call failed.
        RagstoneError: a passage could not be embedded for another reason.
    """
    found: list[Any] = []
    for start in range(0, len(places), embedder.texts_per_call):
        part = [services.corpus.at(p) for p in places[start : start + embedder.texts_per_call]]
        texts = [passage.full_text for passage in part]
        outcomes = embed_texts(embedder, texts, "passage", services, dimension)
        for passage, text, outcome in zip(part, texts, outcomes, strict=True):
            if outcome.value is None:
                raise (CallError if outcome.retry else RagstoneError)(
                    f"the embedder {embedder!r} failed for the passage {passage.passage_id!r} "
                    f"({text[: limits.MAX_VALUE_CHARACTERS]!r}): {outcome.reason}. A store "
                    "keeps the vectors of the passages before it; run again to continue",
                    value=passage.passage_id,
                )
            found.append(outcome.value)
        dimension = _length(found[0])
        bar.advance(len(part))
    return found


def rank_embedded(
    embedder: Embedder,
    searches: Sequence[Search],
    services: Services,
    rank: Callable[[list[Any], Services], Iterable[Ranking]],
) -> Iterator[Outcome[Ranking]]:
    """Return the ranking of each search; empty with the reason if its text could not be embedded.

    Args:
        embedder: embeds the search texts.
        searches: the search texts.
        services: the services of the step; an empty corpus has empty rankings.
        rank: returns one ranking per embedded text; called once, and only if there is one.
    """
    texts = [search.text for search in searches]
    if not len(services.corpus):
        return (Outcome(Ranking()) for _ in texts)
    return rank_vectors(embed_texts(embedder, texts, "query", services), services, rank)


def rank_vectors(
    outcomes: Sequence[Outcome[Any]],
    services: Services,
    rank: Callable[[list[Any], Services], Iterable[Ranking]],
) -> Iterator[Outcome[Ranking]]:
    """Yield a ranking per embedded text, in order; see `rank_embedded`."""
    vectors = [outcome.value for outcome in outcomes if outcome.value is not None]
    rankings = iter(list(rank(vectors, services)) if vectors else ())
    for outcome in outcomes:
        yield replace(outcome, value=Ranking() if outcome.value is None else next(rankings))


def _checked(embedder: Embedder, text: str, value: Any) -> Any:
    """Return the vectors of one text in 32 bits; raise `ConfigError` if they are not searchable."""
    sparse = embedder.output == "sparse"
    try:
        numbers = np.asarray(list(value.values()) if sparse else value, dtype=np.float32)
    except (AttributeError, TypeError, ValueError) as error:
        expected = "a mapping from term number to weight" if sparse else "an array of numbers"
        shown = repr(value)[: limits.MAX_VALUE_CHARACTERS]
        raise _unusable(embedder, text, f"{shown}, expected {expected},") from error
    axes = 2 if embedder.output == "tokens" else 1
    problem = ""
    if numbers.ndim != axes or not (sparse or numbers.shape[-1]):
        shape = "(tokens, dimension)" if axes > 1 else "(dimension,)"
        problem = f"an array of shape {numbers.shape}, expected {shape},"
    elif not np.isfinite(numbers).all():
        problem = "a vector with numbers that are not finite"
    elif sparse and not (numbers > 0).all():
        problem = "a weight that is not above 0"
    elif sparse and min(value, default=0) < 0:
        problem = "a negative term number"
    if problem:
        raise _unusable(embedder, text, problem)
    return dict(zip(value, numbers.tolist(), strict=True)) if sparse else numbers


def _unusable(embedder: Embedder, text: str, problem: str) -> ConfigError:
    shown = text[: limits.MAX_VALUE_CHARACTERS]
    return ConfigError(f"the embedder {embedder!r} returned {problem} for the text {shown!r}")


def _length(value: Any) -> int:
    """Return the length of dense or token vectors; 0 for sparse ones."""
    return int(value.shape[-1]) if isinstance(value, np.ndarray) else 0
