"""BERTScore-P, -R and -F1: how well the tokens of answer and gold answer match, by meaning."""

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
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.bert_encoder import TextPair

_SHORTEST: Final = 3
"""Tokens of the shortest text that says something: one, between two marks."""


def checked_scale(
    model: str, layer: int, max_tokens: int, *, rescale: bool, baselines: tuple[float, ...]
) -> bool:
    """Return whether there are baselines to rescale with: those given, or published ones.

    Raises:
        ConfigError: an option is out of its range, or contradicts another.
    """
    if not model or set(model) & set("(),"):
        raise ConfigError(f"a model's name has no comma and no parentheses, found {model!r}")
    if layer < 0:
        raise ConfigError(f"layer must be 0 (the usual one) or more, found {layer}")
    if max_tokens < _SHORTEST:
        raise ConfigError(f"max_tokens must be {_SHORTEST} or more, found {max_tokens}")
    if not all(0.0 <= baseline < 1.0 for baseline in baselines):
        raise ConfigError(f"a baseline must be from 0 up to 1, found {baselines}")
    if any(baselines) and not all(baselines):
        raise ConfigError("give both baselines, recall_baseline and precision_baseline, or neither")
    if any(baselines) and not rescale:
        raise ConfigError(
            "rescale=false contradicts the baseline that is given; remove one of them"
        )
    known = model in PUBLISHED and layer in (0, PUBLISHED[model].layer)
    return rescale and (known or any(baselines))


@dataclass(frozen=True)
class BertScore(AnswerMetric):
    """What the three have in common.

    Args:
        model: a folder, the name of a bundled encoder, or the hub's name.
        layer: whose output is taken; 0 is the published one, or the last of other models.
        rescale: with a baseline, such that unrelated texts get about 0 and may be negative. Where
            there is no baseline it becomes false, and the metric's name says so.
        baseline: what unrelated texts get; 0 takes the published one.
        max_tokens: a longer text is cut, with a warning.
    """

    model: str = DEFAULT
    layer: int = 0
    rescale: bool = True
    baseline: float = 0.0
    max_tokens: int = PLACES

    part: ClassVar[str]
    requires_extra = "hf"

    def __post_init__(self) -> None:
        """Check the options, and let the name say where nothing is rescaled."""
        scale = checked_scale(
            self.model,
            self.layer,
            self.max_tokens,
            rescale=self.rescale,
            baselines=(self.baseline,),
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
        """Return the score per pair, 1 at most; the highest of its gold answers."""
        lanes = zip(pairs.lane_pair.tolist(), pairs.labels, strict=True)
        found = self.parts([(pairs.answers[pair], label) for pair, label in lanes])
        best = np.full(len(pairs), -np.inf)
        np.maximum.at(best, pairs.lane_pair, found)
        return np.where(np.isfinite(best), best, 0.0)

    def parts(self, texts: list[TextPair]) -> Values:
        """Return the score of each pair of texts."""
        scores = bert_scores(texts, self.model, self.layer, self.max_tokens)
        found = np.array([getattr(score, self.part) for score in scores], float)
        if not self.rescale:
            return found
        baseline = self.baseline or float(getattr(PUBLISHED[self.model], self.part))
        return np.array([rescaled(value, baseline) for value in found.tolist()], float)


@dataclass(frozen=True)
class BertScoreP(BertScore):
    """BERTScore precision: each token of the answer with the most similar one of the gold answer.

    Zhang et al., ICLR 2020, no idf. Rescaled with the baseline of the default model; an empty
    answer has 0 before that, as in the released package, and so a negative value after it.
    """

    name: ClassVar[str] = "BERTScore-P"
    part: ClassVar[str] = "precision"


@dataclass(frozen=True)
class BertScoreR(BertScore):
    """BERTScore recall: each token of the gold answer with the most similar one of the answer.

    Zhang et al., ICLR 2020, no idf. Rescaled as `BERTScore-P`.
    """

    name: ClassVar[str] = "BERTScore-R"
    part: ClassVar[str] = "recall"


@dataclass(frozen=True)
class BertScoreF1(BertScore):
    """BERTScore F1: the harmonic mean of its precision and recall, then rescaled by itself.

    Zhang et al., ICLR 2020, no idf. Rescaled as `BERTScore-P`.
    """

    name: ClassVar[str] = "BERTScore-F1"
    part: ClassVar[str] = "f1"
