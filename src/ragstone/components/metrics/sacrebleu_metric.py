"""The base of BLEU and chrF, which the package sacrebleu computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.components.metrics.answer_batch import without_blank
from ragstone.components.metrics.base import AnswerMetric
from ragstone.errors import MissingDependency

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.protocols import Services

_PERCENT = 100.0


@dataclass(frozen=True)
class SacrebleuMetric(AnswerMetric):
    """A score of sacrebleu per answer, from 0 to 1; that of all answers together is beside it."""

    requires_extra = "bleu"

    def check(self, services: Services) -> None:
        """Raise `MissingDependency` if sacrebleu is not installed."""
        self._scorer(whole=True)

    def _scorer(self, *, whole: bool) -> Any:
        """Return the scorer of single answers, or of the whole corpus."""
        raise NotImplementedError

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the score per pair."""
        scorer = self._scorer(whole=False)
        found = [
            _share(scorer.sentence_score(answer, list(gold))) if answer.strip() else 0.0
            for answer, gold in zip(pairs.answers, pairs.gold, strict=True)
        ]
        return np.array(found, float)

    def beside(
        self, answers: Sequence[str | None], gold: Sequence[Sequence[str]]
    ) -> dict[str, float]:
        """Return the score of all answers together; a failed answer counts as an empty one."""
        rows = [
            (a or "", kept)
            for a, g in zip(answers, gold, strict=True)
            if (kept := without_blank(g))
        ]
        if not rows:
            return {}
        most = max(len(labels) for _, labels in rows)
        # sacrebleu takes the first references of all answers, then the second ones; None is none.
        columns = [[g[i] if i < len(g) else None for _, g in rows] for i in range(most)]
        score = self._scorer(whole=True).corpus_score([answer for answer, _ in rows], columns)
        return {"corpus": _share(score)}


def _share(score: Any) -> float:
    """Return a score as a share; sacrebleu's rounding exceeds 100 for equal texts."""
    return min(1.0, float(score.score) / _PERCENT)


def scorers(name: str) -> Any:
    """Return the module of sacrebleu's scorers; raise `MissingDependency` without it."""
    try:
        from sacrebleu import metrics
    except ImportError as error:
        raise MissingDependency(name, "sacrebleu", "bleu") from error
    return metrics
