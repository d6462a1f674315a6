"""label: which of a few options the answer states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.core.spec import Spec
from ragstone.errors import ConfigError
from ragstone.text.scripts import UNSPACED

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values

_NEGATED: Final = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|without|rather than|instead of)|n't)"
    r"(?:\s+(?:be|is|the|a|an|answer|say|simply|clearly|really|quite)){0,3}\W{0,3}$"
)
_SENTENCE: Final = re.compile(r"[.!?;\n\u3002\uff01\uff1f\u061f\u0964]")
_DETERMINER: Final = "no"
"""An option that is also a determiner: "no doubt" does not state it within a sentence."""


@dataclass(frozen=True)
class Label(AnswerMetric):
    """1 if the answer states the gold answer's option and no other one, else 0.

    The mean is the accuracy. An option is stated if its words occur in the answer without a
    negation before them ("not yes"). An answer that states several different options is wrong, and
    so is one that states none (an abstention). "no" within a sentence before another word ("no
    doubt") is not the option.

    Formula: 1 if the set of stated options is that of the gold answer.

    Source: the accuracy of PubMedQA, Jin et al., EMNLP 2019.

    Trap: the options are read by words, so an explanation that names another option can make it
    wrong.

    Args:
        options: the labels, such as `label(yes, no, maybe)`.
    """

    options: tuple[str | bool | int | float, ...] = ("yes", "no")

    name: ClassVar[str] = "label"
    graded: ClassVar[bool] = False
    description: ClassVar[str] = (
        "1 if the answer states the right one of the options and no other, else 0: the mean is the "
        "accuracy. An answer that states none is wrong."
    )

    def __post_init__(self) -> None:
        """Raise `ConfigError` for fewer than two different options."""
        if len(set(self._names)) < max(2, len(self._names)) or not all(self._names):
            raise ConfigError(
                f"label needs two or more different options, such as label(yes, no), found "
                f"{self.options!r}"
            )

    def __str__(self) -> str:
        """Return the canonical name, which lists the options."""
        default = self.options == type(self).options
        return str(Spec(self.name, {} if default else {"": tuple(self._names)})).replace(", ", ",")

    @cached_property
    def _names(self) -> list[str]:
        return [str(option).strip().casefold() for option in self.options]

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        return np.array(list(map(self._one, pairs.answers, pairs.gold)), float)

    def _one(self, answer: str, gold: Sequence[str]) -> bool:
        stated = self.stated(answer)
        return len(stated) == 1 and stated[0] in self._of(gold)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the reasons for pairs whose gold answers are none of the options."""
        return {
            i: f"no gold answer is one of the options {', '.join(self._names)}"
            for i, gold in enumerate(pairs.gold)
            if not self._of(gold)
        }

    def beside(
        self, answers: Sequence[str | None], gold: Sequence[Sequence[str]]
    ) -> dict[str, float]:
        """Return macro-F1 over the options that occur, and the number of abstentions.

        A failed answer (None) states nothing, but is not an abstention. There are no figures if no
        gold answer is one of the options.
        """
        rows = [(a, self.stated(a or ""), self._of(g)) for a, g in zip(answers, gold, strict=True)]
        pairs = []
        for _, stated, right in rows:
            guess = stated[0] if len(stated) == 1 else ""
            pairs += [(guess, guess if guess in right else right[0])] if right else []
        if not pairs:
            return {}
        scores = []
        for option in self._names:
            both = sum(guess == option == truth for guess, truth in pairs)
            total = sum((guess == option) + (truth == option) for guess, truth in pairs)
            scores += [2 * both / total] if total else []
        return {
            "macro_f1": sum(scores) / len(scores),
            "abstained": sum(a is not None and not s and bool(right) for a, s, right in rows),
        }

    def _of(self, gold: Sequence[str]) -> list[str]:
        """Return the options that are gold answers."""
        known = [_plain(answer) for answer in gold]
        return [option for option in self._names if option in known]

    def stated(self, answer: str) -> list[str]:
        """Return the different options that an answer states, in order.

        >>> label = Label(("yes", "no", "maybe"))
        >>> label.stated("Yes, there is no doubt."), label.stated("Not yes, but maybe.")
        (['yes'], ['maybe'])
        """
        text = answer.casefold().replace("\u2019", "'")
        found = [m for m in self._pattern.finditer(text) if _is_stated(m)]
        return list(dict.fromkeys(m[0] for m in found))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True)))
        # Scripts without spaces have no word border.
        return re.compile(rf"(?<![^\W{UNSPACED}])(?:{longest})(?![^\W{UNSPACED}])")


def _plain(text: str) -> str:
    return text.casefold().strip(" \t\n.!\"'")


def _is_stated(found: re.Match[str]) -> bool:
    """Return whether a mention of an option states it."""
    before = _SENTENCE.split(found.string[: found.start()])[-1]
    if _NEGATED.search(before):
        return False
    follows = re.match(r"[ \t]+\w", found.string[found.end() :])
    return found[0] != _DETERMINER or not follows or not before.strip(" \t\"'*([-,:")
