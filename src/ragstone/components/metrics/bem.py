"""BEM: whether a trained classifier takes the answer for an equivalent of a gold answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ragstone.components.metrics.answer_equivalence import AnswerTriple, load_classifier
from ragstone.components.metrics.base import AnswerMetric
from ragstone.core.environment import require
from ragstone.errors import ConfigError
from ragstone.models.locate import ENCODER, weights_digest

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.protocols import Services

_SHORTEST: Final = 16
"""Tokens of an input in which each of the three texts has some."""


@dataclass(frozen=True)
class BEM(AnswerMetric):
    """The probability that the answer is equivalent to a gold answer, given the question.

    Bulian et al., "Tomayto, Tomahto", EMNLP 2022: a BERT classifier that was trained on people's
    judgements of short answers in English. The most probable gold answer counts; a blank answer
    gives 0.

    Formula: probability of the class "equivalent".

    Source: Bulian et al., EMNLP 2022.

    Trap: it was trained on short English answers.

    Args:
        model: a folder, or a name on the hub, of a sequence classifier whose second class is
            "equivalent".
        max_tokens: longer inputs are cut, with a warning.
    """

    model: str = "kortukov/answer-equivalence-bem"
    max_tokens: int = 512

    name: ClassVar[str] = "BEM"
    description: ClassVar[str] = (
        "The probability that the answer is equivalent to a gold answer, from a classifier that "
        "was trained on people's judgements of short answers in English."
    )
    requires_extra = "hf"

    def __post_init__(self) -> None:
        """Check the options."""
        if not self.model or set(self.model) & set("(),"):
            raise ConfigError(
                f"model must be a name without commas and parentheses, found {self.model!r}"
            )
        if self.max_tokens < _SHORTEST:
            raise ConfigError(f"max_tokens must be {_SHORTEST} or more, found {self.max_tokens}")

    @property
    def content_revision(self) -> str:
        """Digest of the model's files."""
        return weights_digest(self.model, kind=ENCODER)

    def check(self, services: Services) -> None:
        """Raise `MissingDependency` if torch or transformers is not installed."""
        require("BEM", "hf", "torch", "transformers")

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the highest probability per pair."""
        wanted = [
            AnswerTriple(answer, label, pairs.query_texts[pair])
            for pair, (answer, label) in zip(pairs.gold_pair, pairs.with_labels, strict=True)
        ]
        given = np.array([bool(one.candidate.strip()) for one in wanted], bool)
        found = np.zeros(len(wanted))
        if given.any():
            classifier = load_classifier(self.model, self.max_tokens)
            found[given] = classifier.probabilities(
                [one for one, has_answer in zip(wanted, given, strict=True) if has_answer]
            )
        return pairs.best_gold(found)
