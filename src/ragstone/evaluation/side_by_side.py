"""Several judges side by side: their orders of systems, and their agreement pair by pair.

People are one more column, the first: agreement with people and among judges is one table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final, TypeAlias

from ragstone.errors import ConfigError
from ragstone.evaluation.graded_answers import answer_groups, rated_answers
from ragstone.evaluation.human_grades import HumanSet
from ragstone.evaluation.judge_check import JudgeCheck
from ragstone.statistics.agreement import cohen_kappa
from ragstone.statistics.agreement_by_group import GroupAgreement, agreement_by_group
from ragstone.statistics.correlation import Column, spearman
from ragstone.statistics.order_agreement import OrderAgreement, RatedAnswers, order_agreement
from ragstone.statistics.resampling import Bootstrap, Coefficient
from ragstone.statistics.summary import Summary, summarise

PEOPLE: Final = "people"
Groups: TypeAlias = Mapping[str, Mapping[str, Sequence[int]]]
_NO_GROUPS: Final[Groups] = {}
_FEW_WORDS: Final = 5
"""Maximum number of different values that are compared as words."""
_RESAMPLES: Final = 2_000


@dataclass(frozen=True)
class JudgedColumn:
    """The verdicts of one judge, or people's grades: one entry per answer."""

    name: str
    values: Column
    words: Sequence[str] = ()
    """The verdicts in words; "" without one. Empty if there are no words."""
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class JudgeOrder:
    """The means of a judge by system, the best first."""

    judge: str
    n: int
    """Answers with a verdict."""
    answers: int
    systems: tuple[tuple[str, Summary], ...]


@dataclass(frozen=True, slots=True)
class JudgePair:
    """The agreement of two judges on the answers that both rated."""

    a: str
    b: str
    n: int
    kappa: Coefficient | None
    """None if the two do not choose from the same words."""
    correlation: Coefficient
    """Spearman's, over answers."""
    order: OrderAgreement | None
    """`b` against `a` as the reference; None with fewer than two systems."""
    groups: tuple[GroupAgreement, ...] = ()
    """The agreement by label: that of `b` with `a` in the place of people."""


@dataclass(frozen=True)
class SideBySide:
    """Judges, and people if their grades are known, on the same answers."""

    orders: tuple[JudgeOrder, ...]
    pairs: tuple[JudgePair, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded; docs/judges.md lists the keys."""
        orders = [
            {
                "judge": one.judge,
                "n": one.n,
                "answers": one.answers,
                "systems": [{"system": name, **asdict(mean)} for name, mean in one.systems],
            }
            for one in self.orders
        ]
        return {"orders": orders, "pairs": [asdict(pair) for pair in self.pairs]}


def side_by_side(
    columns: Sequence[JudgedColumn],
    answers: RatedAnswers,
    groups: Groups = _NO_GROUPS,
    *,
    seed: int = 0,
) -> SideBySide:
    """Return the orders of systems by each column, and the agreement of each pair of columns.

    `groups` maps labels to values to places of answers: pairs of judges also agree by label.

    Raises:
        ConfigError: fewer than two columns.

    >>> rated = RatedAnswers(["a", "b"] * 4, [1, 1, 2, 2, 3, 3, 4, 4], [1, 1, 2, 2, 3, 3, 4, 4])
    >>> one, two = [1, 0, 1, 0, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0, 0, 0]
    >>> found = side_by_side([JudgedColumn("one", one), JudgedColumn("two", two)], rated)
    >>> found.pairs[0].n, found.pairs[0].order.by_run["kendall"].value
    (8, 1.0)
    """
    if len(columns) < 2:  # noqa: PLR2004 - a pair
        raise ConfigError(
            f"found {len(columns)} judge{'s' * (len(columns) != 1)}; two or more are compared"
        )
    return SideBySide(
        tuple(_order(one, answers) for one in columns),
        tuple(_pair(a, b, answers, groups, seed) for a, b in combinations(columns, 2)),
    )


def checks_side_by_side(
    checks: Mapping[str, JudgeCheck], data: HumanSet, *, by: Sequence[str] = (), seed: int = 0
) -> SideBySide:
    """Return several checked judges and people on the same graded answers.

    With labels `by`, the judges also agree with each other by label.
    """
    names = [PEOPLE, *checks]
    values: list[list[float | None]] = [[one.value for one in data.items]]
    values += [[verdict.value for verdict in check.verdicts] for check in checks.values()]
    words = [[one.label for one in data.items]]
    words += [_words(check) for check in checks.values()]
    answers, spread = rated_answers(data.items, values)
    groups = answer_groups(data.items, by) if by else _NO_GROUPS
    if len(answers.systems) > len(data.items):
        # An item with two answers has one verdict in words, but two entries.
        words, groups = [[]] * len(names), _NO_GROUPS
    columns = [JudgedColumn(*one) for one in zip(names, spread, words, strict=True)]
    return side_by_side(columns, answers, groups, seed=seed)


def _words(check: JudgeCheck) -> list[str]:
    """Return the verdicts in people's words, or else few values as words."""
    if any(people for people, _ in check.words):
        return [judge for _, judge in check.words]
    return words_of([verdict.value for verdict in check.verdicts])


def places_of(names: Sequence[str]) -> dict[str, list[int]]:
    """Return name -> its places.

    >>> places_of(["ja", "en", "ja"])
    {'ja': [0, 2], 'en': [1]}
    """
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(name, []).append(place)
    return found


def words_of(values: Column) -> list[str]:
    """Return values as words if they are few, for kappa; else an empty list.

    >>> words_of([1.0, 0.0, None]), words_of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    (['1', '0', ''], [])
    """
    few = len({value for value in values if value is not None}) <= _FEW_WORDS
    return ["" if value is None else f"{value:g}" for value in values] if few else []


def _order(column: JudgedColumn, answers: RatedAnswers) -> JudgeOrder:
    places: dict[str, list[int]] = {}
    for place, system in enumerate(answers.systems):
        places.setdefault(system, []).append(place)
    means = {
        system: summarise(
            [column.values[place] for place in own],
            clusters=[answers.clusters[place] for place in own],
        )
        for system, own in places.items()
    }
    sign = 1 if column.higher_is_better else -1
    known = {name: one.mean for name, one in means.items() if one.mean is not None}
    ranked = sorted(known, key=lambda name: -sign * known[name])
    rest = [name for name in means if name not in known]
    n = sum(value is not None for value in column.values)
    ordered = tuple((name, means[name]) for name in [*ranked, *rest])
    return JudgeOrder(column.name, n, len(column.values), ordered)


def _pair(
    a: JudgedColumn, b: JudgedColumn, answers: RatedAnswers, groups: Groups, seed: int
) -> JudgePair:
    first, second = _higher_is_better(a), _higher_is_better(b)
    both = [
        place for place, values in enumerate(zip(first, second, strict=True)) if None not in values
    ]
    clusters = [answers.clusters[place] for place in both]
    x, y = ([column[place] for place in both] for column in (first, second))
    kappa = _kappa(a, b, answers, seed)
    order = {place: rank for rank, place in enumerate(both)}
    within = {
        label: {value: [order[p] for p in own if p in order] for value, own in values.items()}
        for label, values in groups.items()
    }
    by_group = agreement_by_group(
        y,
        [float(value) for value in x if value is not None],
        within,
        labels=[(a.words[place], b.words[place]) for place in both] if kappa else (),
        clusters=clusters,
        bootstrap=Bootstrap(resamples=_RESAMPLES, seed=seed),
    )
    return JudgePair(
        a.name,
        b.name,
        len(both),
        kappa,
        spearman(x, y, clusters=clusters, seed=seed),
        order_agreement(first, second, answers, seed=seed),
        tuple(by_group),
    )


def _higher_is_better(column: JudgedColumn) -> Column:
    if column.higher_is_better:
        return column.values
    return [None if value is None else -value for value in column.values]


def _kappa(
    a: JudgedColumn, b: JudgedColumn, answers: RatedAnswers, seed: int
) -> Coefficient | None:
    """Return Cohen's kappa; None if neither chooses from the other's words."""
    worded = [place for place, pair in enumerate(zip(a.words, b.words, strict=False)) if all(pair)]
    x, y = ([column.words[place] for place in worded] for column in (a, b))
    if not worded or not (set(x) <= set(y) or set(y) <= set(x)):
        return None
    clusters = [answers.clusters[place] for place in worded]
    return cohen_kappa(x, y, clusters=clusters, seed=seed)
