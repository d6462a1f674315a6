"""choices: which of some words of your own describes the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from ragstone.components.judges.criterion import criterion_name
from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice
from ragstone.errors import ConfigError

_LEAST: Final = 2


@dataclass(frozen=True)
class Choices(ModelJudge):
    """The option that describes the answer; the metric of each is 1 or 0, so its mean is a share.

    Args:
        options: the words to choose from.
        scores: a value from 0 to 1 for each option; the judge then has one more metric, their mean.
        text: the question about the answer.
        metric: the first part of the names of the metrics; by default the options.
    """

    options: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    text: str = "Which word describes the answer best?"
    metric: str = ""

    name = "choices"
    unnamed: ClassVar[str] = "options"
    variables = ("task", "options", "query", "history", "answer", "passages", "gold")
    default_user = user_template("{task} Choose one of: {options}.", {**TURN, "answer": "answer"})

    def __post_init__(self) -> None:
        """Check the fields."""
        if len(set(self.options)) < max(_LEAST, len(self.options)):
            raise ConfigError(
                "judge 'choices' needs two or more different options, for example "
                f"choices([helpful, evasive]), found {list(self.options)}",
                key="options",
            )
        if self.scores and len(self.scores) != len(self.options):
            raise ConfigError(
                f"judge 'choices' has {len(self.options)} options and {len(self.scores)} scores; "
                "give one score per option",
                key="scores",
            )
        if any(not 0 <= score <= 1 for score in self.scores):
            raise ConfigError(
                f"judge 'choices': scores are from 0 to 1, found {list(self.scores)}", key="scores"
            )
        _ = self._choice.meanings
        super().__post_init__()

    @property
    def own_name(self) -> str:
        """The first part of the names of the metrics."""
        return self.metric or criterion_name(self.name, " ".join(self.options))

    @cached_property
    def _choice(self) -> Choice:
        return Choice(self.options)

    @property
    def own_metrics(self) -> tuple[str, ...]:
        """The score if there are scores, then one metric per option."""
        own = (self.own_name,) if self.scores else ()
        return (*own, *(f"{self.own_name}:{option}" for option in self.options))

    @property
    def verdict_words(self) -> tuple[str, ...]:
        """The options."""
        return self.options

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return one call with the options."""
        more = {"task": self.text, "options": ", ".join(self.options)}
        values = {**self.values(item), **more}
        return [self.judge_call(self._choice, values, (item.answer or "", *item.passages))]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the option with 1 or 0 per option, and its score."""
        label = str(values[0])
        parts = {f"{self.own_name}:{option}": float(option == label) for option in self.options}
        score = self.scores[self.options.index(label)] if self.scores else 1.0
        return Verdict(item.item_id, score, label, parts)
