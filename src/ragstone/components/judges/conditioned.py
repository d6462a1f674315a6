"""conditioned: another judge's value, settled by whether the query can be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from ragstone.calls.client import Calls
from ragstone.components.judges.idk_conditioning import KEEP, OUT, Variant, cell
from ragstone.components.judges.questions import Asker
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.types import Prediction, Score, Task


@dataclass(frozen=True)
class Conditioned:
    """The judge's value, 0 or 1 by the table of `ragstone.components.judges.idk_conditioning`.

    Queries carry the label `answerability`; one without it keeps its value. The judge is asked only
    where its value is kept.

    Args:
        of: whose value: `RB_llm`, `{name: RL_F, model: ...}`.
        idk: the judge that finds refusals.
        variant: `corrected`, or mtRAG's `script` or `released`.
    """

    of: str | dict[str, Any] = field(default="RB_llm", metadata=NOT_IN_CACHE_KEY)
    idk: str | dict[str, Any] = field(default="idk", metadata=NOT_IN_CACHE_KEY)
    variant: Variant = "corrected"
    label: str = "answerability"

    version: ClassVar[int] = 1

    def __str__(self) -> str:
        """Return the metric's name."""
        told = "" if self.variant == "corrected" else f"={self.variant}"
        return f"{self.inner}(conditioned{told})"

    @property
    def revision(self) -> list[Any]:
        """What both judges are made of."""
        return [cache_key_parts(self.inner), cache_key_parts(self.detector)]

    @cached_property
    def inner(self) -> Any:
        """The judge whose value is settled."""
        return create("judges", self.of, where="judge 'conditioned', of")

    @cached_property
    def detector(self) -> Any:
        """The judge that finds refusals."""
        return create("judges", self.idk, where="judge 'conditioned', idk")

    def check(self, calls: Calls) -> None:
        """Check both judges."""
        self.inner.check(calls)
        self.detector.check(calls)

    @property
    def calls_per_item(self) -> int:
        """Those of both judges."""
        return int(self.inner.calls_per_item + self.detector.calls_per_item)

    def verdicts(self, items: Sequence[Item], calls: Asker) -> list[Verdict]:
        """Return one verdict per item, in order."""
        refusals = self.detector.verdicts(items, calls)
        settled = [self._settled(i, r) for i, r in zip(items, refusals, strict=True)]
        asked = [item for item, known in zip(items, settled, strict=True) if known is None]
        found = iter(self.inner.verdicts(asked, calls))
        return [
            known or _with_cost(next(found), idk)
            for known, idk in zip(settled, refusals, strict=True)
        ]

    def judge(
        self, tasks: Sequence[Task], predictions: Sequence[Prediction], calls: Asker
    ) -> list[Score]:
        """Return one score per answer."""
        items = [Item.of(task, one) for task, one in zip(tasks, predictions, strict=True)]
        return [
            Score(v.item_id, str(self), v.value, v.status, v.reason)
            for v in self.verdicts(items, calls)
        ]

    def _settled(self, item: Item, idk: Verdict) -> Verdict | None:
        """Return the verdict that the table gives; None where the judge's own value counts."""
        answerability = item.query.labels.get(self.label)
        if idk.status == "not_applicable":
            return None
        if idk.status == "failed":
            return replace(idk, value=None, reason=f"idk: {idk.reason}")
        if answerability is None:
            return None
        found = cell(str(answerability), idk.label, self.variant)
        if found == KEEP:
            return None
        reason = f"{answerability}, idk {idk.label}"
        if found == OUT:
            return replace(Verdict.not_asked(item, f"{reason}: left out"), cost=idk.cost)
        value = float(found)
        return replace(Verdict.not_asked(item, reason, value), cost=idk.cost)


def _with_cost(verdict: Verdict, idk: Verdict) -> Verdict:
    return replace(verdict, cost=verdict.cost + idk.cost)
