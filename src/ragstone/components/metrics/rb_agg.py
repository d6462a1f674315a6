"""RB_agg: mtRAG's algorithmic score of an answer, from its three parts, with refusals settled.

Katsis et al., MTRAG, TACL 2025: the harmonic mean of ROUGE-L and BERTScore recall against the gold
answer and of BERTScore precision against the passages. Then what an "I don't know" deserves, by
whether the query can be answered.
"""

from __future__ import annotations

from typing import Final, Literal

from ragstone.errors import ConfigError, did_you_mean

Variant = Literal["paper", "clipped"]

ANSWERABLE: Final = frozenset({"ANSWERABLE", "PARTIAL"})
UNANSWERABLE: Final = frozenset({"UNANSWERABLE", "CONVERSATIONAL"})


def rb_agg(
    rouge_l: float, bert_recall: float, bert_k_precision: float, *, variant: Variant = "paper"
) -> float:
    """Return the harmonic mean of ROUGE-L F1 and two rescaled BERTScores; 0 where a part is 0.

    Args:
        rouge_l: F1 against the gold answer, from 0 to 1.
        bert_recall: BERTScore recall against the gold answer, rescaled with its baseline, which
            puts unrelated texts near 0 and lets worse ones be negative.
        bert_k_precision: the highest BERTScore precision against a passage, rescaled likewise.
        variant: "paper" maps the two by (x + 1) / 2, so that unrelated texts get 0.5 and ROUGE-L
            decides (their rank correlation is 0.98); "clipped" takes max(0, x).

    >>> round(rb_agg(0.5, 0.4, 0.2), 4), round(rb_agg(0.5, 0.4, 0.2, variant="clipped"), 4)
    (0.5888, 0.3158)
    """
    parts = [rouge_l, *(_mapped(part, variant) for part in (bert_recall, bert_k_precision))]
    if min(parts) <= 0.0:
        return 0.0
    return len(parts) / sum(1.0 / part for part in parts)


def _mapped(value: float, variant: Variant) -> float:
    return (value + 1.0) / 2.0 if variant == "paper" else max(0.0, value)


def conditioned(value: float, answerability: str, refused: float) -> float:
    """Return the value that a score has once it is known whether the answer is a refusal.

    Args:
        value: any score of the answer, from 0 to 1.
        answerability: mtRAG's label of the query, upper or lower case.
        refused: the judge's verdict on "is this an I-don't-know?": 1 yes, 0.5 partly, 0 no.

    Returns:
        For answerable and partly answerable queries 0 where the answer is a refusal, else `value`;
        for unanswerable and conversational ones 1 where it is a refusal, else 0. (mtRAG leaves
        conversational turns out of its means; its script would demand a refusal of them.)

    Raises:
        ConfigError: no such label.

    >>> conditioned(0.6, "ANSWERABLE", 1.0), conditioned(0.6, "PARTIAL", 0.5)
    (0.0, 0.6)
    >>> conditioned(0.6, "UNANSWERABLE", 1.0), conditioned(0.6, "UNANSWERABLE", 0.5)
    (1.0, 0.0)
    """
    label = answerability.upper()
    if label in ANSWERABLE:
        return 0.0 if refused >= 1.0 else value
    if label in UNANSWERABLE:
        return 1.0 if refused >= 1.0 else 0.0
    known = [*ANSWERABLE, *UNANSWERABLE]
    raise ConfigError(f"answerability {answerability!r}{did_you_mean(label, known)}")
