"""nuggets: which of the facts that an answer must or may hold it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ragstone.components.judges.list_schemas import Numbered
from ragstone.components.judges.llm_base import ModelJudge, unscored, user_template
from ragstone.components.judges.questions import Answered, JudgeCall
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import VerdictSchema

GRADES: Final = {"support": 1.0, "partial": 0.5, "none": 0.0}
_OKAY: Final = 0.5


@dataclass(frozen=True)
class Nuggets(ModelJudge):
    """Coverage of the nuggets that a query's labels list: `vital_nuggets` and `okay_nuggets`.

    The value weighs an okay nugget half: (sum vital + 0.5 sum okay) / (vital + 0.5 okay), a partial
    mention counting half. Parts: `nuggets:vital` over the vital ones alone, `nuggets:strict` where
    a partial mention counts nothing, `nuggets:all` where every nugget weighs the same. A query
    without vital nuggets has no `nuggets:vital`, instead of 0.
    """

    name: ClassVar[str] = "nuggets"
    form: ClassVar[VerdictSchema[Any]] = Numbered(1, tuple(GRADES))
    empty: ClassVar[float | None] = 0.0
    variables: ClassVar[tuple[str, ...]] = ("query", "history", "answer", "nuggets")
    own_user: ClassVar[str] = user_template(
        "For each numbered fact, say whether the answer holds it: support (wholly, in any words), "
        "partial (in part, or only hinted at), none.",
        history="earlier turns",
        query="question",
        answer="answer",
        nuggets="facts",
    )

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call for a query without nuggets."""
        if not any(_nuggets(item)):
            return Verdict.not_asked(item, "the query has no nuggets")
        return super().without_call(item)

    def questions(self, item: Item) -> list[JudgeCall[Any]]:
        """Ask about all nuggets at once, the vital ones first."""
        vital, okay = _nuggets(item)
        listed = "\n".join(f"{n}. {fact}" for n, fact in enumerate((*vital, *okay), start=1))
        form = Numbered(len(vital) + len(okay), tuple(GRADES))
        values = {**self.values(item), "nuggets": listed}
        return [self.question(form, values, (item.answer or "",))]

    def verdict(self, item: Item, answered: Sequence[Answered[Any]]) -> Verdict:
        """Return the weighted coverage and its variants."""
        failed = unscored(item, answered)
        if failed is not None:
            return failed
        vital_count = len(_nuggets(item)[0])
        grades = [GRADES[one] for one in answered[0].said]
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
    held = [item.query.labels.get(name) for name in ("vital_nuggets", "okay_nuggets")]
    vital, okay = (one if isinstance(one, tuple) else () for one in held)
    return vital, okay
