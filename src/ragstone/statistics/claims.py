"""Metrics of claims: RAGChecker's suite, from entailments.

Ru et al., "RAGChecker: A Fine-grained Framework for Diagnosing RAG" (NeurIPS 2024), section 3. A
claim of the answer is right if the gold answer entails it, and supported if a passage does. A
passage is relevant if it entails a claim of the gold answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

Flags = Sequence[bool]


@dataclass(frozen=True, slots=True)
class Entailed:
    """The entailments of the claims of one answer and of its gold answer."""

    right: Flags
    """Claims of the answer: whether the gold answer entails each."""
    supported: Sequence[Flags]
    """Claims of the answer x passages: whether the passage entails the claim."""
    recalled: Flags
    """Claims of the gold answer: whether the answer entails each."""
    found: Sequence[Flags]
    """Claims of the gold answer x passages: whether the passage entails the claim."""


def claim_metrics(of: Entailed) -> dict[str, float]:
    """Return RAGChecker's metrics of one answer, from 0 to 1, without those that are undefined.

    Shares of the answer's claims: `precision` (right), `faithfulness` (supported), `hallucination`
    (neither), `self-knowledge` (right and not supported), and the wrong ones that a relevant
    passage supports (`noise-sensitivity-relevant`) or only others
    (`noise-sensitivity-irrelevant`). Shares of the gold answer's claims: `recall` (in the answer),
    `claim-recall` (in a passage) and, of those in a passage, `context-utilisation` (in the answer).
    `context-precision` is the share of relevant passages; `f1` is of precision and recall.

    RAGChecker's program counts undefined metrics as 0, such as those of an answer without claims.

    >>> one = Entailed([True, False], [[True, False], [False, True]], [True], [[True, False]])
    >>> found = claim_metrics(one)
    >>> found["precision"], found["context-precision"], found["noise-sensitivity-irrelevant"]
    (0.5, 0.5, 0.5)
    """
    relevant = [any(column) for column in zip(*of.found, strict=True)]
    found: dict[str, float] = {}
    if of.right:
        found |= _of_answer(of, relevant)
    if of.recalled:
        found["recall"] = fmean(of.recalled)
        in_context = [any(row) for row in of.found]
        found["claim-recall"] = fmean(in_context)
        used = [hit for hit, shown in zip(of.recalled, in_context, strict=True) if shown]
        if used:
            found["context-utilisation"] = fmean(used)
    if relevant:
        found["context-precision"] = fmean(relevant)
    if "precision" in found and "recall" in found:
        total = found["precision"] + found["recall"]
        found["f1"] = 2 * found["precision"] * found["recall"] / total if total else 0.0
    return found


def _of_answer(of: Entailed, relevant: Flags) -> dict[str, float]:
    """Return the metrics over the claims of the answer."""
    by_any = [any(row) for row in of.supported]
    by_relevant = [
        any(hit and is_relevant for hit, is_relevant in zip(row, relevant, strict=False))
        for row in of.supported
    ]
    claims = list(zip(of.right, by_any, by_relevant, strict=True))
    return {
        "precision": fmean(of.right),
        "faithfulness": fmean(by_any),
        "hallucination": fmean(not right and not shown for right, shown, _ in claims),
        "self-knowledge": fmean(right and not shown for right, shown, _ in claims),
        "noise-sensitivity-relevant": fmean(not right and useful for right, _, useful in claims),
        "noise-sensitivity-irrelevant": fmean(
            not right and shown and not useful for right, shown, useful in claims
        ),
    }
