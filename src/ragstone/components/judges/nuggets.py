"""nuggets: the share of the required and optional facts that an answer contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Numbered

GRADES: Final = {"support": 1.0, "partial": 0.5, "none": 0.0}
_OKAY: Final = 0.5


@dataclass(frozen=True)
class Nuggets(ModelJudge):
    """Coverage of the nuggets in a query's labels `vital_nuggets` and `okay_nuggets`.

    The value weights an okay nugget half: (sum vital + 0.5 sum okay) / (vital + 0.5 okay), and a
    partial mention counts half. Parts: `nuggets:vital` covers only the vital ones; `nuggets:strict`
    ignores partial mentions; `nuggets:all` weights every nugget equally. A query without vital
    nuggets has no `nuggets:vital`, instead of 0.
    """

    name = "nuggets"
    schema = Numbered(1, tuple(GRADES))
    empty_value = 0.0
    part_metrics = ("nuggets:all", "nuggets:strict", "nuggets:vital")
    default_user = user_template(
        "For each numbered fact, say whether the answer holds it: support (wholly, in any words), "
        "partial (in part, or only hinted at), none.",
        {**TURN, "answer": "answer", "nuggets": "facts"},
    )

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call for a query without nuggets."""
        if not any(_nuggets(item)):
            return Verdict.settled(item, "the query has no nuggets")
        return super().without_call(item)

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return one call about all nuggets, the vital ones first."""
        vital, okay = _nuggets(item)
        listed = "\n".join(f"{n}. {fact}" for n, fact in enumerate((*vital, *okay), start=1))
        schema = Numbered(len(vital) + len(okay), tuple(GRADES))
        values = {**self.values(item), "nuggets": listed}
        return [self.judge_call(schema, values, (item.answer or "",))]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the weighted coverage and its variants."""
        vital_count = len(_nuggets(item)[0])
        grades = [GRADES[grade] for grade in values[0]]
        vital, okay = grades[:vital_count], grades[vital_count:]
        weight = len(vital) + _OKAY * len(okay)
        parts = {
            "nuggets:all": sum(grades) / len(grades),
            "nuggets:strict": sum(grade == 1.0 for grade in grades) / len(grades),
        }
        if vital:
            parts["nuggets:vital"] = sum(vital) / len(vital)
        return Verdict(item.item_id, (sum(vital) + _OKAY * sum(okay)) / weight, parts=parts)


def _nuggets(item: Item) -> tuple[tuple[str, ...], tuple[str, ...]]:
    labels = [item.query.labels.get(name) for name in ("vital_nuggets", "okay_nuggets")]
    vital, okay = (label if isinstance(label, tuple) else () for label in labels)
    return vital, okay
