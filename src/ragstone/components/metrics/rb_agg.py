"""RB_agg: mtRAG's algorithmic score of an answer, before refusals are settled.

Katsis et al., MTRAG, TACL 2025: the harmonic mean of ROUGE-L and BERTScore recall against the gold
answer and of BERTScore precision against the passages. `ragstone.components.judges.conditioned`
then adjusts it by whether the query can be answered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.bert_encoder import DEFAULT, PLACES
from ragstone.components.metrics.bert_score import BertKPrecision, BertMetric, BertScoreR
from ragstone.components.metrics.rouge_l import RougeL

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


def rb_agg(
    rouge_l: float,
    bert_recall: float,
    bert_k_precision: float,
    *,
    variant: Literal["paper", "clipped"] = "paper",
) -> float:
    """Return the harmonic mean of ROUGE-L F1 and two rescaled BERTScores; 0 if a part is 0.

    Args:
        rouge_l: F1 against the gold answer, from 0 to 1.
        bert_recall: BERTScore recall against the gold answer, rescaled with its baseline, so that
            unrelated texts are near 0 or negative.
        bert_k_precision: the highest BERTScore precision against a passage, rescaled likewise.
        variant: "paper" maps the two by (x + 1) / 2, so that unrelated texts get 0.5 and ROUGE-L
            decides (their rank correlation is 0.98); "clipped" takes max(0, x).

    >>> round(rb_agg(0.5, 0.4, 0.2), 4), round(rb_agg(0.5, 0.4, 0.2, variant="clipped"), 4)
    (0.5888, 0.3158)
    """
    rescaled = (bert_recall, bert_k_precision)
    mapped = [(x + 1.0) / 2.0 if variant == "paper" else max(0.0, x) for x in rescaled]
    parts = [rouge_l, *mapped]
    return 0.0 if min(parts) <= 0.0 else len(parts) / sum(1.0 / part for part in parts)


@dataclass(frozen=True)
class RbAgg(BertMetric):
    """Harmonic mean of ROUGE-L, BERTScore recall and Bert-K-Precision, before refusals are settled.

    Katsis et al., MTRAG, TACL 2025. An empty context gives 0. Values of another encoder, which the
    name then shows, are not comparable with mtRAG's.

    Formula: 3 / (1/a + 1/b + 1/c), of ROUGE-L and the two BERTScores mapped by (x + 1) / 2.

    Source: Katsis et al., MTRAG, TACL 2025.

    Trap: the mapping gives unrelated texts 0.5, so ROUGE-L decides.

    Args:
        variant: "mtrag" compares the answer with the first gold answer alone, takes Google's
            ROUGE-L and maps the two BERTScores by (x + 1) / 2; "clipped" takes the best gold answer
            for each part, letters of all scripts, and max(0, x).
        model, layer, rescale, max_tokens: see `BertMetric`.
        recall_baseline, precision_baseline: the scores of unrelated texts; 0 takes the published
            ones.
    """

    variant: Literal["mtrag", "clipped"] = "mtrag"
    model: str = DEFAULT
    layer: int = 0
    rescale: bool = True
    recall_baseline: float = 0.0
    precision_baseline: float = 0.0
    max_tokens: int = PLACES

    name: ClassVar[str] = "RB_agg"
    requires: ClassVar[frozenset[str]] = frozenset({"gold_answers", "context"})
    synonyms: ClassVar[dict[str, str]] = {"paper": "mtrag"}

    @property
    def baselines(self) -> tuple[float, ...]:
        """The given baselines."""
        return self.recall_baseline, self.precision_baseline

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the harmonic mean per pair, between 0 and 1."""
        mtrag = self.variant == "mtrag"
        held = replace(pairs, gold=[gold[:1] for gold in pairs.gold]) if mtrag else pairs
        rouge = RougeL("mtrag" if mtrag else "corrected").values(held)
        compared = zip(held.answers, held.gold, held.shown, strict=True)
        # Both parts then find their scores; each answer is encoded once for the two.
        self.overlaps([(said, text) for said, *texts in compared for text in chain(*texts)])
        options = (self.model, self.layer, self.rescale)
        recall = BertScoreR(*options, self.recall_baseline, self.max_tokens).values(held)
        known = BertKPrecision(*options, self.precision_baseline, self.max_tokens).values(held)
        form: Literal["paper", "clipped"] = "paper" if mtrag else "clipped"
        parts = zip(rouge.tolist(), recall.tolist(), known.tolist(), pairs.shown, strict=True)
        found = [rb_agg(*three, variant=form) if shown else 0.0 for *three, shown in parts]
        return np.array(found, float)
