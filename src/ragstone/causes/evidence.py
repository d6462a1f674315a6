"""The evidence of trials and labels about one wrong answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GoldPath:
    """The way of one gold passage to the context; ranks count from 1."""

    passage_id: str
    retrieved: int | None = None
    """Rank before reranking; None if the retriever did not return it."""
    ranked: int | None = None
    """Rank in the ranking that the context was built from."""
    built: bool = False
    """Whether it is in the context as the setting built it."""
    shown: bool = False
    """Whether it is in the context that the generator was shown."""
    kept: bool = True
    """Whether the text of it that the answer needs was shown, if the passage was."""
    with_rewrite: int | None = None
    """Rank of the same retrieval with the gold rewrite; None if not returned or not measured."""
    hop: int | None = None
    """The last search of the system that found it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of trials and labels about one wrong answer; None: not measured."""

    failure: str = ""
    """The class and the reason of a failure; "" if there is an answer."""
    label_doubt: str = ""
    """Why the gold answer is doubtful; "" if nothing speaks against it."""
    unanswerable: bool = False
    """Whether the data set labels the query unanswerable."""
    refused: bool | None = None
    right_repeats: int = 0
    repeats: int = 1
    """The number of answers with a label."""
    gold: tuple[GoldPath, ...] = ()
    """The gold passages; empty if the data set has none for the query."""
    all_needed: bool = False
    """Whether the answer needs all of them and not one."""
    context_known: bool = True
    """Whether the context of the generator is known."""
    depth: int | None = None
    """Number of passages retrieved."""
    cut: int | None = None
    """Number of retrieved passages in the context as built."""
    reranked: bool = False
    lost_at_hop: int | None = None
    """The first search that found no further gold passage, although one was not found yet."""
    right_with_gold: bool | None = None
    right_without: bool | None = None
    right_with_neighbours: bool | None = None
    sufficient: bool | None = None
    """Whether a judge found that the query can be answered from the context."""
    covered: float | None = None
    """The share of the required facts in the answer."""
