"""RB_agg as a metric of answers: its three parts computed, then put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.bert_encoder import DEFAULT, PLACES, check_runnable
from ragstone.components.metrics.bert_k_precision import BertKPrecision
from ragstone.components.metrics.bert_score import BertScoreR, checked_scale
from ragstone.components.metrics.rb_agg import rb_agg
from ragstone.components.metrics.rouge_l import RougeL
from ragstone.models.locate import ENCODER, weights_digest

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class RbAgg(AnswerMetric):
    """Harmonic mean of ROUGE-L, BERTScore recall and Bert-K-Precision, before refusals are settled.

    Katsis et al., MTRAG, TACL 2025. Variants: "mtrag" holds the answer against the first gold
    answer alone, takes Google's ROUGE-L and maps the two BERTScores by (x + 1) / 2; "clipped" takes
    the best gold answer for each part, letters of all scripts, and max(0, x). No passage gives 0.
    Values of another encoder, which the name then shows, are not comparable with mtRAG's.

    Args:
        model, layer, rescale, max_tokens: as in `BERTScore-R`.
        recall_baseline, precision_baseline: what unrelated texts get; 0 takes the published ones.
    """

    variant: Literal["mtrag", "clipped"] = "mtrag"
    model: str = DEFAULT
    layer: int = 0
    rescale: bool = True
    recall_baseline: float = 0.0
    precision_baseline: float = 0.0
    max_tokens: int = PLACES

    name: ClassVar[str] = "RB_agg"
    requires_extra = "hf"
    requires: ClassVar[frozenset[str]] = frozenset({"gold_answers", "context"})
    synonyms: ClassVar[dict[str, str]] = {"paper": "mtrag"}

    def __post_init__(self) -> None:
        """Check the options, and let the name say where nothing is rescaled."""
        baselines = (self.recall_baseline, self.precision_baseline)
        scale = checked_scale(
            self.model, self.layer, self.max_tokens, rescale=self.rescale, baselines=baselines
        )
        object.__setattr__(self, "rescale", scale)

    @property
    def content_revision(self) -> str:
        """Digest of the model's files."""
        return weights_digest(self.model, kind=ENCODER)

    def check(self, services: object = None) -> None:
        """Raise unless the encoder can be run here, before an answer is paid for."""
        check_runnable(self.model, self.layer)

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the harmonic mean per pair, between 0 and 1."""
        mtrag = self.variant == "mtrag"
        held = replace(pairs, gold=[gold[:1] for gold in pairs.gold]) if mtrag else pairs
        rouge = RougeL("mtrag" if mtrag else "corrected").values(held)
        options = (self.model, self.layer, self.rescale)
        recall = BertScoreR(*options, self.recall_baseline, self.max_tokens).values(held)
        known = BertKPrecision(*options, self.precision_baseline, self.max_tokens).values(held)
        form: Literal["paper", "clipped"] = "paper" if mtrag else "clipped"
        parts = zip(rouge.tolist(), recall.tolist(), known.tolist(), strict=True)
        found = np.array([rb_agg(*three, variant=form) for three in parts], float)
        return np.where([bool(c and c.passages) for c in pairs.contexts], found, 0.0)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Name the pairs whose context is not known."""
        return BertKPrecision(self.model, self.layer).inapplicable(pairs)
