"""The check of a judge: its verdicts on graded answers, compared with people's grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal, TypeAlias

from ragstone.components.judges.pairwise import ORDER_DEPENDENT
from ragstone.components.judges.verdict import Cost, Verdict, verdicts_of
from ragstone.core import limits
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.evaluation.graded_answers import answer_groups, order_of
from ragstone.evaluation.human_grades import HumanSet, Labelled
from ragstone.protocols import Judge, Services
from ragstone.statistics.agreement_by_group import GroupAgreement, agreement_by_group
from ragstone.statistics.judge_quality import Columns, Quality, Use, quality, uses
from ragstone.statistics.order_agreement import OrderAgreement
from ragstone.statistics.proportions import Proportion, proportion
from ragstone.statistics.resampling import Bootstrap

_SAME: Final = 1e-9
_RESAMPLES: Final = 2_000
_FIRST: Final = "pairwise:first"
GroupMeasure: TypeAlias = Literal["kappa", "spearman"]


class NoVerdict(ConfigError):
    """A judge has no verdict on any answer, such as one that reads passages if none are shown."""


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
    leaderboard: OrderAgreement | None
    """The judge's order of the systems against people's; None with fewer than two systems."""
    groups: tuple[GroupAgreement, ...]
    """Agreement with people by label."""
    group_measure: GroupMeasure
    """kappa if every verdict and its grade are among the same words."""
    cost: Cost
    verdicts: tuple[Verdict, ...]
    words: tuple[tuple[str, str], ...] = ()
    """(people's, judge's) verdict in words, per item; "" without one."""
    money: float | None = None
    """Price of all calls; None if it is unknown."""
    currency: str = ""

    @property
    def per_item(self) -> Cost:
        """Mean cost per judged item (whole tokens)."""
        n, cost = max(1, self.quality.parsed.n), self.cost
        return Cost(
            round(cost.calls / n), cost.tokens_in // n, cost.tokens_out // n, cost.seconds / n
        )

    @property
    def money_per_item(self) -> float | None:
        """Mean price per judged item; None if it is unknown."""
        return None if self.money is None else self.money / max(1, self.quality.parsed.n)


def check_judge(
    judge: Judge,
    data: HumanSet,
    services: Services,
    *,
    by: Sequence[str] = (),
    seed: int = 0,
) -> JudgeCheck:
    """Return the quality of a judge on graded answers.

    The judge has `least_parse_rate: 0`, because the check measures the parse rate.

    Args:
        judge: the judge.
        data: answers graded by people.
        services: the way to the judge's model.
        by: labels by which agreement is shown; by default those that the answers have.
        seed: of the resampled intervals.

    Raises:
        NoVerdict: the judge has no verdict on any item.
        ConfigError: no answer has a label of `by`.
        CallError: the model cannot be reached.
    """
    answer_groups(data.items, by)
    verdicts = verdicts_of(judge, [one.item for one in data.items], services)
    return check_verdicts(str(judge), data, verdicts, models=judge.model_names, by=by, seed=seed)


def check_stored(
    metric: str, data: HumanSet, *, by: Sequence[str] = (), seed: int = 0
) -> JudgeCheck:
    """Return the quality of scores that the graded data contains, such as a published judge's.

    Raises:
        DatasetError: the data has no such scores.
    """
    if metric not in data.values:
        hint = did_you_mean(metric, data.values) if data.values else "; it has none"
        raise DatasetError(f"{data.name} has no stored scores of {metric!r}{hint}")
    values = data.values[metric]
    if any(one.item.other for one in data.items):
        # Scores of pairs are differences from -1 to 1; a verdict is from 0 to 1.
        values = tuple(None if value is None else (value + 1) / 2 for value in values)
    verdicts = [
        Verdict(one.item.item_id, value, status="unscored" if value is None else "scored")
        for one, value in zip(data.items, values, strict=True)
    ]
    return check_verdicts(metric, data, verdicts, by=by, seed=seed)


def check_verdicts(
    name: str,
    data: HumanSet,
    verdicts: Sequence[Verdict],
    *,
    models: tuple[str, ...] = (),
    by: Sequence[str] = (),
    seed: int = 0,
) -> JudgeCheck:
    """Return the quality of verdicts on graded answers, one per item, in order."""
    places = [
        place
        for place, verdict in enumerate(verdicts)
        if verdict.asked and verdict.status != "not_applicable" and not verdict.lost
    ]
    asked = [(data.items[place], verdicts[place]) for place in places]
    lost = sum(verdict.lost for verdict in verdicts)
    if not asked:
        reason = verdicts[0].reason if verdicts else "the set is empty"
        raise NoVerdict(
            f"judge {name} cannot be checked on {data.name}: it has no verdict on any of the "
            f"{len(data.items)} items ({reason}); {data.name} suits the judge {data.judge}"
        )
    judged = [verdict for _, verdict in asked]
    columns = _columns(models, asked)
    found = quality(columns, seed=seed)
    repeatable = _share([len(set(v.values)) == 1 for v in judged if len(v.values) > 1])
    paired = [verdict for verdict in judged if _FIRST in verdict.parts]
    grades = [one.value for one in data.items]
    order = order_of(data, grades, [verdict.value for verdict in verdicts], seed=seed)
    return JudgeCheck(
        judge=name,
        models=models,
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
        uses=tuple(uses(found, repeatable, order.reversed if order else ())),
        leaderboard=order,
        groups=tuple(_groups(data, columns, places, by, seed)),
        group_measure="kappa" if _in_words(columns) else "spearman",
        cost=sum((verdict.cost for verdict in judged), Cost()),
        verdicts=tuple(verdicts),
        words=tuple(_spread(columns.labels, places, len(verdicts))),
    )


def _groups(
    data: HumanSet, columns: Columns, places: Sequence[int], by: Sequence[str], seed: int
) -> list[GroupAgreement]:
    """Return the agreement by label among the items at some places."""
    order = {place: rank for rank, place in enumerate(places)}
    groups = {
        label: {value: [order[p] for p in own if p in order] for value, own in values.items()}
        for label, values in answer_groups(data.items, by).items()
    }
    return agreement_by_group(
        columns.judge,
        columns.human,
        groups,
        labels=columns.labels if _in_words(columns) else (),
        clusters=columns.clusters,
        bootstrap=Bootstrap(resamples=_RESAMPLES, seed=seed),
    )


def _in_words(columns: Columns) -> bool:
    """Return whether every scored item has both labels."""
    scored = [
        pair for pair, value in zip(columns.labels, columns.judge, strict=True) if value is not None
    ]
    return bool(scored) and all(map(all, scored))


def _spread(
    words: Sequence[tuple[str, str]], places: Sequence[int], size: int
) -> list[tuple[str, str]]:
    """Return words at their places among all items."""
    found = [("", "")] * size
    for place, pair in zip(places, words, strict=True):
        found[place] = pair
    return found


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
        clusters=[one.group for one, _ in asked],
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
