"""The causes of a wrong answer in the order of the pipeline, and the trials that each needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Group: TypeAlias = Literal["retrieval", "reading", "refusal", "failure", "undecided", "refinement"]
CauseName: TypeAlias = Literal[
    "query_rewriting",
    "retrieval_miss",
    "ranking",
    "reranking",
    "processing",
    "distraction",
    "reading",
    "knowledge_conflict",
    "missed_refusal",
    "false_refusal",
    "failure",
    "label_suspect",
    "undecided",
    "chunk_border",
    "incomplete",
    "insufficient_context",
]

GOLD: Final = "the setting gold"
"""The trial in which a system is shown the gold passages alone."""
NONE: Final = "the setting none"
"""The trial without context."""
REWRITE: Final = "the same retriever with query_former: rewrite"
"""The retrieval of the gold rewrite of a conversational query."""
NEIGHBOURS: Final = "a setting that joins neighbouring passages"
REFUSALS: Final = "the metric refusal or the judge idk"
SUFFICIENT: Final = "the judge sufficient-context"
NUGGETS: Final = "the judge nuggets"
QRELS: Final = "gold passages (qrels)"
REPEATS: Final = "repeats"
SYSTEMS: Final = "another system with another generator, or the gold passages for the data doctor"


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause of wrong answers."""

    name: CauseName
    group: Group
    meaning: str
    needs: tuple[str, ...]
    """The trials, metrics and labels without which the cause is not found, besides the answer."""
    normal: bool = False
    """Whether a run without any further trial can decide it."""
    refines: bool = False
    """Whether it refines another cause, which its answers count under too."""


CAUSES: Final[tuple[Cause, ...]] = (
    Cause(
        "query_rewriting",
        "retrieval",
        "the gold rewrite of the query brings the gold passage into the context, the search text "
        "of the system does not",
        (QRELS, REWRITE),
    ),
    Cause(
        "retrieval_miss",
        "retrieval",
        "no gold passage was retrieved at the searched depth",
        (QRELS,),
        normal=True,
    ),
    Cause(
        "ranking",
        "retrieval",
        "a gold passage was retrieved, but below the cut",
        (QRELS,),
        normal=True,
    ),
    Cause(
        "reranking",
        "retrieval",
        "a gold passage was above the cut before reranking and below it afterwards",
        (QRELS,),
        normal=True,
    ),
    Cause(
        "processing",
        "retrieval",
        "a processor cut away the gold passage or the text of the gold answer in it",
        (QRELS,),
        normal=True,
    ),
    Cause(
        "distraction",
        "reading",
        "right with the gold passages alone, wrong with other passages beside them",
        (QRELS, GOLD),
    ),
    Cause("reading", "reading", "wrong with the gold passages alone", (QRELS, GOLD, NONE)),
    Cause(
        "knowledge_conflict",
        "reading",
        "right without context, wrong with the gold passages alone",
        (QRELS, GOLD, NONE),
    ),
    Cause(
        "missed_refusal",
        "refusal",
        "an answer to a query that the data set labels unanswerable",
        (REFUSALS,),
        normal=True,
    ),
    Cause(
        "false_refusal",
        "refusal",
        "a refusal although a gold passage was shown",
        (QRELS, REFUSALS),
        normal=True,
    ),
    Cause("failure", "failure", "no answer: the call failed, or nothing was read", (), normal=True),
    Cause(
        "label_suspect",
        "undecided",
        "the gold answer is doubtful: systems with different generators agree on another answer "
        "that a passage supports, or the data doctor doubts it",
        (SYSTEMS,),
        normal=True,
    ),
    Cause("undecided", "undecided", "the trials at hand do not decide the cause", ()),
    Cause(
        "chunk_border",
        "refinement",
        "right if the neighbouring passages are joined to those shown",
        (NEIGHBOURS,),
        refines=True,
    ),
    Cause(
        "incomplete",
        "refinement",
        "the answer has some of the required facts, not all",
        (NUGGETS,),
        normal=True,
        refines=True,
    ),
    Cause(
        "insufficient_context",
        "refinement",
        "a judge found that the query cannot be answered from what was shown",
        (SUFFICIENT,),
        normal=True,
        refines=True,
    ),
)
"""All causes: those of the pipeline in its order, refusals, failures, doubts, refinements."""
BY_NAME: Final = {cause.name: cause for cause in CAUSES}
CITATION: Final = "citation"
"""The mark of a right answer with a wrong source."""
LOST: Final[tuple[CauseName, ...]] = (
    "query_rewriting",
    "retrieval_miss",
    "ranking",
    "reranking",
    "processing",
)
"""The causes that name the step at which gold was lost."""
VULNERABLE: Final[tuple[CauseName, ...]] = (*LOST, "distraction")
"""The causes that are MIRAGE's noise vulnerability: right with gold alone, wrong in the mix."""
BESIDE: Final[tuple[CauseName, ...]] = (
    "missed_refusal",
    "false_refusal",
    "failure",
    "label_suspect",
    "undecided",
)
"""The causes that are counted beside MIRAGE's four."""
