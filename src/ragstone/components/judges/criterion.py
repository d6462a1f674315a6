"""criterion: a sentence of your own, such as "The answer names the year of the treaty"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.rubric import WeightedCriterion, rubric_of
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice, Rating, VerdictSchema
from ragstone.errors import ConfigError

_RANGE: Final = re.compile(r"(\d+)-(\d+)")
_NAME_WORDS: Final = 6
"""Words of a criterion in the name of its metric."""


@dataclass(frozen=True)
class Criterion(ModelJudge):
    """How far an answer fulfils a criterion of your own: yes 1, no 0, or a rating as a share.

    Args:
        text: the criterion, as a sentence about the answer.
        scale: `yes` for yes or no, or the lowest and the highest rating, such as `1-5`.
        label: a label of the queries that has the criterion of each query, in place of `text`, or
            its rubric: a list of sentences, or of objects with `text` and `weight` (default 1). The
            value of a rubric is the weighted share that is fulfilled; each of its criteria is
            a call. A query without the label is not applicable.
        metric: name of the metric; by default the first words of the criterion.
    """

    text: str = ""
    scale: str = "yes"
    label: str = ""
    metric: str = ""

    name = "criterion"
    unnamed: ClassVar[str] = "text"
    variables = ("criterion", "query", "history", "answer", "passages", "gold")
    default_user = user_template(
        "How far does the answer fulfil the criterion? Judge only by what the answer says.",
        {"criterion": "criterion", **TURN, "answer": "answer"},
    )

    def __post_init__(self) -> None:
        """Check the fields."""
        if bool(self.text.strip()) == bool(self.label):
            raise ConfigError(
                "judge 'criterion' needs a sentence, for example criterion('The answer names a "
                "year'), or a label of the queries that has one each",
                key="text",
            )
        _ = self._verdict_schema
        super().__post_init__()

    @property
    def own_name(self) -> str:
        """The metric's name with the judge's own prompt."""
        return self.metric or criterion_name(self.name, self.text or self.label)

    @cached_property
    def _verdict_schema(self) -> VerdictSchema[Any]:
        if self.scale == "yes":
            return Choice()
        found = _RANGE.fullmatch(self.scale)
        if found is None or int(found[1]) >= int(found[2]):
            raise ConfigError(
                "judge 'criterion': scale must be yes or a range such as 1-5, found "
                f"{self.scale!r}",
                key="scale",
                value=self.scale,
            )
        return Rating(int(found[1]), int(found[2]))

    @property
    def verdict_words(self) -> tuple[str, ...]:
        """The words of a verdict on the scale."""
        return self._verdict_schema.words

    @property
    def graded(self) -> bool:
        """Whether values other than 0 and 1 occur."""
        return self.scale != "yes" or bool(self.label) or self.repeats * len(self.backends) > 1

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return no note; raise `DatasetError` if the rubric of a query is malformed."""
        for query in dataset.queries if self.label else ():
            rubric_of(query, self.label)
        return super().data_notes(dataset)

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call for a query without a criterion."""
        if not self._of(item):
            return Verdict.settled(item, f"the query has no label {self.label!r}")
        return super().without_call(item)

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return a call per criterion: one, unless the query has a rubric."""
        material = (item.answer or "", *item.passages)
        values = [{**self.values(item), "criterion": one.text} for one in self._of(item)]
        return [self.judge_call(self._verdict_schema, one, material) for one in values]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return 1 or 0, or the rating as a share of its scale; of a rubric, the weighted mean."""
        schema, rubric = self._verdict_schema, self._of(item)
        if isinstance(schema, Rating):
            shares, label = [schema.share(value) for value in values], ""
        else:
            shares, label = [float(value == "yes") for value in values], str(values[0])
        if len(rubric) == 1:
            return Verdict(item.item_id, shares[0], label)
        pairs = list(zip(rubric, shares, strict=True))
        total = sum(one.weight for one in rubric)
        value = sum(one.weight * share for one, share in pairs) / total
        missed = [one.text for one, share in pairs if share < 1]
        reason = f"not fulfilled: {'; '.join(missed)}" if missed else ""
        return Verdict(item.item_id, value, reason=reason)

    def _of(self, item: Item) -> list[WeightedCriterion]:
        """Return the criteria of an item; [] if its query has none."""
        return rubric_of(item.query, self.label) if self.label else [WeightedCriterion(self.text)]


def criterion_name(kind: str, text: str) -> str:
    """Return the name of a metric from the first words of a text.

    >>> criterion_name("criterion", "The answer names the year of the treaty.")
    'criterion-the-answer-names-the-year-of'
    """
    words = re.findall(r"\w+", text.lower())[:_NAME_WORDS]
    return "-".join([kind, *words])
