"""nuggets: the share of the required and optional facts that an answer contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Numbered
from ragstone.data.readers.nuggets import LABELS
from ragstone.statistics.nuggets import nugget_scores

GRADES: Final = {"support": 1.0, "partial": 0.5, "none": 0.0}


@dataclass(frozen=True)
class Nuggets(ModelJudge):
    """Coverage of the nuggets in a query's labels `vital_nuggets` and `okay_nuggets`.

    The metrics are those of TREC's RAG track. A nugget that the answer supports counts 1, a partial
    mention 0.5, and 0 in the strict metrics. The value is the track's weighted score, in which an
    okay nugget has half the weight: (sum vital + 0.5 sum okay) / (vital + 0.5 okay). Parts:
    `nuggets:all` weights all nuggets equally, and `nuggets:vital` covers only the vital ones;
    `nuggets:strict-weighted`, `nuggets:strict` (of all nuggets) and `nuggets:strict-vital` are the
    strict forms. A query without vital nuggets has no value over vital ones, instead of the track's
    0. Source: Pradeep et al., "The Great Nugget Recall" (2025).
    """

    name = "nuggets"
    schema = Numbered(1, tuple(GRADES))
    empty_value = 0.0
    part_metrics = (
        *("nuggets:all", "nuggets:strict", "nuggets:vital"),
        *("nuggets:strict-vital", "nuggets:strict-weighted"),
    )
    default_user = user_template(
        "For each numbered fact, say whether the answer holds it: support (wholly, in any words), "
        "partial (in part, or only hinted at), none.",
        {**TURN, "answer": "answer", "nuggets": "facts"},
    )

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call for a query without nuggets."""
        if not any(_nuggets(item)):
            return Verdict.settled(item, "the query has no nuggets")
        known = super().without_call(item)
        if known is None or known.value != self.empty_value:
            return known
        vital, okay = _nuggets(item)
        parts = nugget_scores([0.0] * len(vital), [0.0] * len(okay))
        parts.pop("weighted")
        return replace(known, parts=_named(parts))

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
        parts = nugget_scores(grades[:vital_count], grades[vital_count:])
        return Verdict(item.item_id, parts.pop("weighted"), parts=_named(parts))


def _named(parts: Mapping[str, float]) -> dict[str, float]:
    return {f"nuggets:{name}": value for name, value in parts.items()}


def _nuggets(item: Item) -> tuple[tuple[str, ...], tuple[str, ...]]:
    labels = [item.query.labels.get(name) for name in LABELS.values()]
    vital, okay = (label if isinstance(label, tuple) else () for label in labels)
    return vital, okay
