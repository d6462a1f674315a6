"""answer-in-context: whether a passage shown to the generator contains a gold answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.match import Match

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class AnswerInContext(AnswerMetric):
    """1 if a passage of the context contains a gold answer as whole words (see `Match`), else 0.

    It needs no qrels. An empty context gives 0. DPR's top-k accuracy matches tokens, as here;
    FlashRAG's retrieval recall matches characters, even inside of words.

    Formula: 1 if a passage shown contains the words of a gold answer.

    Source: Karpukhin et al., DPR, EMNLP 2020; `has_answer` in its qa_validation.py.

    Trap: the words may be in a passage that does not answer the query.
    """

    name: ClassVar[str] = "answer-in-context"
    graded: ClassVar[bool] = False
    description: ClassVar[str] = (
        "1 if the context contains a gold answer, else 0: the best that a reader of the context "
        "alone could do."
    )
    requires: ClassVar[frozenset[str]] = frozenset({"gold_answers", "context"})

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        owner = pairs.passage_pair.tolist()
        passages = AnswerBatch(
            answers=[text for _, text in pairs.with_passages],
            gold=[pairs.gold[i] for i in owner],
            query_texts=[""] * len(owner),
            contexts=[None] * len(owner),
            languages=[pairs.languages[i] for i in owner],
        )
        return pairs.best_passage(Match().values(passages))
