"""BERTScore-P, -R and -F1, and Bert-K-Precision: how well the tokens of two texts match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.bert_encoder import (
    DEFAULT,
    PLACES,
    PUBLISHED,
    bert_scores,
    check_runnable,
)
from ragstone.components.metrics.greedy_matching import rescaled
from ragstone.errors import ConfigError
from ragstone.models.locate import ENCODER, weights_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.bert_encoder import TextPair
    from ragstone.components.metrics.precision_recall import Overlap
    from ragstone.protocols import Services

_SHORTEST: Final = 3
"""Tokens of the shortest text that is not blank: one between two marks."""


class BertMetric(AnswerMetric):
    """The options of all metrics that need BERTScore.

    Args:
        model: a folder, the name of a bundled encoder, or a name on the hub.
        layer: the layer whose output is used; 0 is the published one, or the last of other models.
        rescale: whether scores are rescaled with a baseline, so that unrelated texts get about 0,
            possibly less. Without a baseline it becomes false, which the metric's name shows.
        max_tokens: longer texts are cut, with a warning.
    """

    model: str
    layer: int
    rescale: bool
    max_tokens: int
    requires_extra = "hf"

    @property
    def baselines(self) -> tuple[float, ...]:
        """The given baselines; 0 means the published one."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        """Check the options; set `rescale` to false if there is no baseline."""
        if not self.model or set(self.model) & set("(),"):
            raise ConfigError(
                f"model must be a name without commas and parentheses, found {self.model!r}"
            )
        if self.layer < 0:
            raise ConfigError(f"layer must be 0 (the default) or more, found {self.layer}")
        if self.max_tokens < _SHORTEST:
            raise ConfigError(f"max_tokens must be {_SHORTEST} or more, found {self.max_tokens}")
        if not all(0.0 <= baseline < 1.0 for baseline in self.baselines):
            raise ConfigError(f"a baseline must be from 0 up to 1, found {self.baselines}")
        given = any(self.baselines)
        if given and not all(self.baselines):
            raise ConfigError(
                "give both baselines, recall_baseline and precision_baseline, or neither"
            )
        if given and not self.rescale:
            raise ConfigError(
                "rescale=false contradicts the baseline that is given; remove one of them"
            )
        known = self.model in PUBLISHED and self.layer in (0, PUBLISHED[self.model].layer)
        object.__setattr__(self, "rescale", self.rescale and (known or given))

    @property
    def content_revision(self) -> str:
        """Digest of the model's files."""
        return weights_digest(self.model, kind=ENCODER)

    def check(self, services: Services) -> None:
        """Raise if the encoder cannot run on this machine."""
        check_runnable(self.model, self.layer)

    def overlaps(self, texts: Sequence[TextPair]) -> list[Overlap]:
        """Return precision, recall and F1 of each pair of texts, not rescaled."""
        return bert_scores(texts, self.model, self.layer, self.max_tokens)


@dataclass(frozen=True)
class BertScore(BertMetric):
    """The base of the metrics that are a BERTScore.

    Args:
        model, layer, rescale, max_tokens: see `BertMetric`.
        baseline: the score of unrelated texts; 0 is the published one.
    """

    model: str = DEFAULT
    layer: int = 0
    rescale: bool = True
    baseline: float = 0.0
    max_tokens: int = PLACES

    part: ClassVar[str]
    requires_extra = "hf"

    @property
    def baselines(self) -> tuple[float, ...]:
        """The given baseline."""
        return (self.baseline,)

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the highest score with a gold answer per pair, at most 1."""
        return pairs.best_gold(self.parts(pairs.with_labels))

    def parts(self, texts: list[TextPair]) -> Values:
        """Return the score of each pair of texts."""
        found = [float(getattr(score, self.part)) for score in self.overlaps(texts)]
        if self.rescale:
            baseline = self.baseline or float(getattr(PUBLISHED[self.model], self.part))
            found = [rescaled(value, baseline) for value in found]
        return np.array(found, float)


@dataclass(frozen=True)
class BertScoreP(BertScore):
    """BERTScore precision: each token of the answer with the most similar one of the gold answer.

    Zhang et al., ICLR 2020, no idf. Rescaled with the baseline of the default model; an empty
    answer has 0 before that, as in the released package, and so a negative value after it.

    Formula: mean over the answer's tokens of the highest cosine with a token of the gold
    answer, rescaled.

    Source: Zhang et al., ICLR 2020.

    Trap: values depend on the encoder and on its layer. Rescaled, unrelated texts can get less than
    0, and so less than a failed answer.
    """

    name: ClassVar[str] = "BERTScore-P"
    part = "precision"


@dataclass(frozen=True)
class BertScoreR(BertScore):
    """BERTScore recall: each token of the gold answer with the most similar one of the answer.

    Zhang et al., ICLR 2020, no idf. Rescaled as `BERTScore-P`.

    Formula: mean over the gold answer's tokens of the highest cosine with a token of the
    answer, rescaled.

    Source: Zhang et al., ICLR 2020.

    Trap: values depend on the encoder and on its layer. Rescaled, unrelated texts can get less than
    0, and so less than a failed answer.
    """

    name: ClassVar[str] = "BERTScore-R"
    part = "recall"


@dataclass(frozen=True)
class BertScoreF1(BertScore):
    """BERTScore F1: the harmonic mean of its precision and recall, then rescaled by itself.

    Zhang et al., ICLR 2020, no idf. Rescaled as `BERTScore-P`.

    Formula: 2 P R / (P + R) before the rescaling.

    Source: Zhang et al., ICLR 2020.

    Trap: values depend on the encoder and on its layer. Rescaled, unrelated texts can get less than
    0, and so less than a failed answer.
    """

    name: ClassVar[str] = "BERTScore-F1"
    part = "f1"


@dataclass(frozen=True)
class BertKPrecision(BertScore):
    """The highest BERTScore precision of the answer against a passage of the context.

    Katsis et al., MTRAG, TACL 2025; K is for knowledge. Each passage is compared alone and rescaled
    as `BERTScore-P`. It needs no gold answer. An empty context gives 0, as in the released figures.

    Formula: that of `BERTScore-P` with a passage in place of the gold answer, the best passage.

    Source: Katsis et al., MTRAG, TACL 2025.

    Trap: texts beyond the encoder's maximum are cut. Rescaled, unrelated texts can get less than 0,
    and so less than a failed answer.
    """

    name: ClassVar[str] = "Bert-K-Precision"
    part = "precision"
    requires: ClassVar[frozenset[str]] = frozenset({"context"})

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the precision per pair, at most 1."""
        return pairs.best_passage(self.parts(pairs.with_passages))
