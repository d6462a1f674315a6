"""The check of a judge: its verdicts on graded answers, compared with people's grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from ragstone.components.judges.pairwise import ORDER_DEPENDENT
from ragstone.components.judges.verdict import Cost, Verdict, verdicts_of
from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.evaluation.human_grades import HumanSet, Labelled
from ragstone.protocols import Judge, Services
from ragstone.statistics.judge_quality import Columns, Quality, Use, quality, uses
from ragstone.statistics.proportions import Proportion, proportion

_SAME: Final = 1e-9
_FIRST: Final = "pairwise:first"


@dataclass(frozen=True)
class JudgeCheck:
    """The result of a check."""

    judge: str
    models: tuple[str, ...]
    data: str
    question: str
    """The question that people answered."""
    items: int
    not_asked: int
    """Items settled without a call: no context, an empty answer."""
    calls_failed: int
    """Items whose call failed; they do not count, and the next check repeats their calls."""
    read_at_once: Proportion
    """Share of the items whose first replies could all be read."""
    unscored: Mapping[str, int]
    """Reason -> items."""
    repeatable: Proportion | None
    """Share of the items with equal values in all repeats."""
    order_consistent: Proportion | None
    """Share of the pairs with the same verdict in both orders."""
    first_preferred: float | None
    """Share of replies that prefer the first answer; 0.5 without a position bias."""
    quality: Quality
    uses: tuple[Use, ...]
    cost: Cost
    verdicts: tuple[Verdict, ...]

    @property
    def per_item(self) -> Cost:
        """Mean cost per judged item (whole tokens)."""
        n, cost = max(1, self.quality.parsed.n), self.cost
        return Cost(
            round(cost.calls / n), cost.tokens_in // n, cost.tokens_out // n, cost.seconds / n
        )


def check_judge(judge: Judge, data: HumanSet, services: Services, *, seed: int = 0) -> JudgeCheck:
    """Return the quality of a judge on graded answers.

    The judge has `least_parse_rate: 0`, because the check measures the parse rate. `seed` is that
    of the resampled intervals.

    Raises:
        ConfigError: the judge has no verdict on any item.
        CallError: the model cannot be reached.
    """
    verdicts = verdicts_of(judge, [one.item for one in data.items], services)
    asked = [
        (one, verdict)
        for one, verdict in zip(data.items, verdicts, strict=True)
        if verdict.asked and verdict.status != "not_applicable" and not _lost(verdict)
    ]
    lost = sum(map(_lost, verdicts))
    if not asked:
        reason = verdicts[0].reason if verdicts else "the set is empty"
        raise ConfigError(
            f"judge {judge!s} cannot be checked on {data.name}: it has no verdict on any of the "
            f"{len(data.items)} items ({reason}); {data.name} suits the judge {data.judge}"
        )
    judged = [verdict for _, verdict in asked]
    found = quality(_columns(judge.model_names, asked), seed=seed)
    repeatable = _share([len(set(v.values)) == 1 for v in judged if len(v.values) > 1])
    paired = [verdict for verdict in judged if _FIRST in verdict.parts]
    return JudgeCheck(
        judge=str(judge),
        models=judge.model_names,
        data=data.name,
        question=data.question,
        items=len(data.items),
        not_asked=len(data.items) - len(asked) - lost,
        calls_failed=lost,
        read_at_once=proportion(sum(v.read_at_once for v in judged), len(asked)),
        unscored=dict(Counter(_cause(v.reason) for v in judged if v.value is None)),
        repeatable=repeatable,
        order_consistent=_share([not v.reason.startswith(ORDER_DEPENDENT) for v in paired]),
        first_preferred=fmean(v.parts[_FIRST] for v in paired) if paired else None,
        quality=found,
        uses=tuple(uses(found, repeatable)),
        cost=sum((verdict.cost for verdict in judged), Cost()),
        verdicts=tuple(verdicts),
    )


def _lost(verdict: Verdict) -> bool:
    return verdict.retry and verdict.value is None and not verdict.unreadable


def _columns(models: Sequence[str], asked: Sequence[tuple[Labelled, Verdict]]) -> Columns:
    names = [name.rpartition("/")[2].casefold() for name in models]
    people = {one.label for one, _ in asked if one.label}
    labels = {verdict.label for _, verdict in asked if verdict.label}
    same_words = bool(labels) and (labels <= people or people <= labels)
    return Columns(
        judge=[verdict.value for _, verdict in asked],
        human=[one.value for one, _ in asked],
        labels=[
            (one.label, verdict.label if same_words else _word(verdict, people))
            for one, verdict in asked
        ],
        raters=[one.raters for one, _ in asked],
        lengths=[len(one.item.answer or "") for one, _ in asked],
        own=[any(name in one.system.casefold() for name in names) for one, _ in asked],
        clusters=[one.cluster or one.item.item_id for one, _ in asked],
    )


def _word(verdict: Verdict, people: set[str]) -> str:
    """Return the value as "yes" (1) or "no" (less), if people chose between these words."""
    if verdict.value is None or not people <= {"yes", "no"}:
        return ""
    return "yes" if verdict.value >= 1 - _SAME else "no"


def _share(hits: Sequence[bool]) -> Proportion | None:
    return proportion(sum(hits), len(hits)) if hits else None


def _cause(reason: str) -> str:
    """Return a reason without its quotation of the reply, so that equal causes can be counted."""
    return reason.partition(": '")[0].partition(': "')[0][: limits.MAX_REASON_CHARACTERS]
