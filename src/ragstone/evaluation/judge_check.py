"""Is this judge any good? Asked on answers that people have graded, and held against them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.components.judges.pairwise import ORDER_DEPENDENT
from ragstone.components.judges.questions import CALL_FAILED, Asker
from ragstone.components.judges.verdict import Cost, Verdict
from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.evaluation.human_grades import HumanSet, Labelled
from ragstone.statistics.judge_quality import Columns, Quality, Use, quality, uses
from ragstone.statistics.proportions import Proportion, proportion

_SAME: Final = 1e-9


@dataclass(frozen=True)
class JudgeCheck:
    """What a check found."""

    judge: str
    models: tuple[str, ...]
    data: str
    question: str
    """What people were asked."""
    items: int
    not_asked: int
    """Items that need no call: no context, an empty answer."""
    calls_failed: int
    """Items whose call had no reply: the same check asks them again; they say nothing here."""
    read_at_once: Proportion
    """Of the items asked about, those whose every first reply could be read."""
    unscored: Mapping[str, int]
    """Reason -> items."""
    repeatable: Proportion | None
    """Of the items asked about several times, those with the same value every time."""
    order_consistent: Proportion | None
    """Of pairs asked in both orders, those with the same verdict in both."""
    first_preferred: float | None
    """Share of replies that prefer what stands first; 0.5 without a bias for the place."""
    quality: Quality
    uses: tuple[Use, ...]
    cost: Cost
    verdicts: tuple[Verdict, ...]

    @property
    def per_item(self) -> Cost:
        """Mean cost of an item that was asked about (whole tokens)."""
        n = max(1, self.quality.parsed.n)
        held = self.cost
        return Cost(
            round(held.calls / n), held.tokens_in // n, held.tokens_out // n, held.seconds / n
        )


def check_judge(judge: Any, data: HumanSet, calls: Asker, *, seed: int = 0) -> JudgeCheck:
    """Return how a judge does on graded answers.

    The judge's own stop below a parse rate should be off (`least_parse_rate: 0`): the rate is what
    is to be found out.

    Args:
        judge: a component of the kind judges.
        data: graded answers.
        calls: makes the calls.
        seed: of the intervals that are resampled.

    Raises:
        ConfigError: people and the judge answered different questions.
        CallError: the model cannot be reached.
    """
    verdicts = judge.verdicts([one.item for one in data.items], calls)
    asked = [
        (one, verdict)
        for one, verdict in zip(data.items, verdicts, strict=True)
        if (verdict.status == "failed" and CALL_FAILED not in verdict.reason)
        or (verdict.cost.calls and verdict.value is not None)
    ]
    lost = sum(CALL_FAILED in verdict.reason for verdict in verdicts)
    if not asked:
        reason = verdicts[0].reason if verdicts else "the set is empty"
        raise ConfigError(
            f"judge {judge!s} cannot be checked on {data.name}: none of its {len(data.items)} "
            f"items is a question for it ({reason}); {data.name} suits the judge {data.judge}"
        )
    found = quality(_columns(judge, asked), seed=seed)
    repeatable = _repeatable([verdict for _, verdict in asked])
    return JudgeCheck(
        judge=str(judge),
        models=tuple(_models(judge)),
        data=data.name,
        question=data.question,
        items=len(data.items),
        not_asked=len(data.items) - len(asked) - lost,
        calls_failed=lost,
        read_at_once=proportion(sum(v.read_at_once for _, v in asked), len(asked)),
        unscored=Counter(_kind(v.reason) for _, v in asked if v.value is None),
        repeatable=repeatable,
        order_consistent=_consistent([verdict for _, verdict in asked]),
        first_preferred=_first([verdict for _, verdict in asked]),
        quality=found,
        uses=tuple(uses(found, repeatable)),
        cost=sum((verdict.cost for _, verdict in asked), Cost()),
        verdicts=tuple(verdicts),
    )


def _models(judge: Any) -> list[str]:
    return [model.endpoint.model for model in getattr(judge, "models", ())]


def _columns(judge: Any, asked: Sequence[tuple[Labelled, Verdict]]) -> Columns:
    names = [name.rpartition("/")[2].casefold() for name in _models(judge)]
    people = {one.label for one, _ in asked if one.label}
    said = {verdict.label for _, verdict in asked if verdict.label}
    same_words = bool(people) and (said <= people or people <= said)
    return Columns(
        judge=[verdict.value for _, verdict in asked],
        human=[one.value for one, _ in asked],
        labels=[
            (one.label, verdict.label if same_words else _two(verdict)) for one, verdict in asked
        ],
        raters=[one.raters for one, _ in asked],
        lengths=[len(one.item.answer or "") for one, _ in asked],
        own=[any(name in one.system.casefold() for name in names) for one, _ in asked],
        clusters=[one.cluster or one.item.item_id for one, _ in asked],
    )


def _two(verdict: Verdict) -> str:
    """Return a value as one of the two words people chose between: all of it, or not all."""
    if verdict.value is None:
        return ""
    return "yes" if verdict.value >= 1 - _SAME else "no"


def _repeatable(verdicts: Sequence[Verdict]) -> Proportion | None:
    several = [verdict.values for verdict in verdicts if len(verdict.values) > 1]
    if not several:
        return None
    return proportion(sum(len(set(values)) == 1 for values in several), len(several))


def _consistent(verdicts: Sequence[Verdict]) -> Proportion | None:
    both = [v for v in verdicts if "pairwise:first" in v.parts]
    if not both:
        return None
    differing = sum(v.reason.startswith(ORDER_DEPENDENT) for v in both)
    return proportion(len(both) - differing, len(both))


def _first(verdicts: Sequence[Verdict]) -> float | None:
    held = [v.parts["pairwise:first"] for v in verdicts if "pairwise:first" in v.parts]
    return sum(held) / len(held) if held else None


def _kind(reason: str) -> str:
    """Return a reason without the reply that it quotes: reasons are counted."""
    return reason.partition(": '")[0].partition(': "')[0][: limits.MAX_REASON_CHARACTERS]
