"""conditioned: another judge's value, adjusted by whether the query can be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from ragstone.components.judges.idk_conditioning import KEEP, OUT, Variant, cell
from ragstone.components.judges.verdict import Item, Verdict, VerdictJudge, verdicts_of
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.core.spec import Written
from ragstone.protocols import Judge, Services


@dataclass(frozen=True)
class Conditioned(VerdictJudge):
    """The judge's value, or 0 or 1 by the table of `ragstone.components.judges.idk_conditioning`.

    Queries carry the label `answerability`; a query without it keeps its value. The judge
    runs only if its value is kept.

    Args:
        of: the judge whose value is adjusted: `RB_llm`, `{name: RL_F, model: ...}`.
        idk: the judge that finds refusals.
        variant: `corrected`, or mtRAG's `script` or `released`.
        label: the label of queries with their answerability.
    """

    of: Written = field(default="RB_llm", metadata=NOT_IN_CACHE_KEY)
    idk: Written = field(default="idk", metadata=NOT_IN_CACHE_KEY)
    variant: Variant = "corrected"
    label: str = "answerability"

    def __post_init__(self) -> None:
        """Resolve both judges while the experiment file's folder is known."""
        _ = self.inner, self.detector

    def __str__(self) -> str:
        """Return the metric's name."""
        variant = "" if self.variant == "corrected" else f"={self.variant}"
        return f"{self.inner}(conditioned{variant})"

    @property
    def content_revision(self) -> Any:
        """The cache key parts of both judges."""
        return [cache_key_parts(self.inner), cache_key_parts(self.detector)]

    @property
    def needs_model(self) -> bool:
        """Whether one of the judges calls a model."""
        return self.inner.needs_model or self.detector.needs_model

    @cached_property
    def inner(self) -> Judge:
        """The judge whose value is adjusted."""
        return cast("Judge", create("judges", self.of, where="judge 'conditioned', of"))

    @cached_property
    def detector(self) -> Judge:
        """The judge that finds refusals."""
        return cast("Judge", create("judges", self.idk, where="judge 'conditioned', idk"))

    def check(self, services: Services) -> None:
        """Check both judges."""
        self.inner.check(services)
        self.detector.check(services)

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return the calls of both judges."""
        return sum(judge.cost(n_queries, n_passages) for judge in (self.inner, self.detector))

    def verdicts(self, items: Sequence[Item], services: Services) -> list[Verdict]:
        """Return one verdict per item, in order."""
        refusals = verdicts_of(self.detector, items, services)
        settled = [self._settled(i, r) for i, r in zip(items, refusals, strict=True)]
        open_items = [item for item, known in zip(items, settled, strict=True) if known is None]
        found = iter(verdicts_of(self.inner, open_items, services))
        return [
            known or _with_detection(next(found), idk)
            for known, idk in zip(settled, refusals, strict=True)
        ]

    def _settled(self, item: Item, idk: Verdict) -> Verdict | None:
        """Return the verdict from the table; None if the judge's own value counts."""
        answerability = item.query.labels.get(self.label)
        if idk.status == "failed":
            return replace(idk, value=None, reason=f"idk: {idk.reason}")
        if idk.status == "not_applicable" or answerability is None:
            return None
        found = cell(str(answerability), idk.label, self.variant)
        if found == KEEP:
            return None
        reason = f"{answerability}, idk {idk.label}{': left out' if found == OUT else ''}"
        value = None if found == OUT else float(found)
        return _with_detection(Verdict.settled(item, reason, value), idk)


def _with_detection(verdict: Verdict, idk: Verdict) -> Verdict:
    """Return a verdict with the cost of the refusal's detection added."""
    return replace(
        verdict,
        cost=verdict.cost + idk.cost,
        asked=verdict.asked or idk.asked,
        retry=verdict.retry or idk.retry,
    )
