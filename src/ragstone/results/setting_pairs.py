"""Settings of one system compared with each other: positions, numbers of passages, attacks.

Compared are settings of one name with other parameters, `gold+injected` with the oracle, and
`documents` and `neighbours` with `retrieved`. Each comparison is paired by query, and all are
corrected together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.tables import TextTable
from ragstone.results.reader import StoredResults
from ragstone.results.standings import CONFIDENCE
from ragstone.results.wording import number, signed_interval
from ragstone.statistics.failures import difference_between
from ragstone.statistics.paired import adjust
from ragstone.statistics.significance import Family, SystemPair, judge, pair_document

_LONGER: Final = ("documents", "neighbours")
"""Families of settings that show more text around retrieved passages."""


@dataclass(frozen=True)
class SettingPair:
    """Two settings of a system: the second one against the first one."""

    system: str
    metric: str
    pair: SystemPair
    """`a` and `b` are names of settings."""


def compared_settings(settings: Sequence[str], oracle: str | None) -> list[tuple[str, str]]:
    """Return the pairs of settings that are compared.

    >>> compared_settings(["gold", "gold+injected(2)", "retrieved(3)", "retrieved(5)"], "gold")
    [('retrieved(3)', 'retrieved(5)'), ('gold', 'gold+injected(2)')]
    """
    families: dict[str, list[str]] = {}
    for setting in settings:
        families.setdefault(setting.partition("(")[0], []).append(setting)
    pairs = [pair for family in families.values() for pair in _within(family)]
    if oracle is not None and oracle in settings:
        pairs += [(oracle, attacked) for attacked in families.get("gold+injected", ())]
    longer = [name for family in _LONGER for name in families.get(family, ())]
    return pairs + [(p, whole) for whole in longer for p in families.get("retrieved", ())]


def _within(family: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield all pairs of a family; if it is large, those with its first member."""
    if len(family) <= limits.MAX_RANKED_SYSTEMS:
        yield from combinations(family, 2)
    else:
        yield from ((family[0], other) for other in family[1:])


def setting_pairs(results: StoredResults) -> list[SettingPair]:
    """Return the comparisons of settings by the metric of correct answers, system by system."""
    metric = results.record.answer_metric
    scale, correction = results.record.scale(metric), results.record.correction
    scores = {(t.system, t.setting): t.scores.get(metric, {}) for t in results.trials}
    found = []
    for a, b in compared_settings(results.settings, results.record.oracle):
        for system in results.systems:
            sides = scores.get((system, a), {}), scores.get((system, b), {})
            gap = difference_between(*sides, scale, results.clusters)
            if gap is not None:
                failed = [sum(s.status == "failed" for s in side.values()) for side in sides]
                found.append((system, a, b, gap, failed))
    corrected = adjust([gap.p for *_, gap, _ in found], correction)
    family = Family(1 - CONFIDENCE, len(found), correction)
    return [
        SettingPair(
            system,
            metric,
            judge(a, b, gap, p, family, scale=scale, failed=(failed[0], failed[1])),
        )
        for (system, a, b, gap, failed), p in zip(found, corrected, strict=True)
    ]


def setting_documents(results: StoredResults) -> list[dict[str, Any]]:
    """Return the comparisons as plain data (`setting_comparisons`)."""
    return [
        {"system": one.system, "metric": one.metric, **pair_document(one.pair)}
        for one in setting_pairs(results)
    ]


def setting_table(results: StoredResults) -> TextTable | None:
    """Return the comparisons of settings, or None without any."""
    found = setting_pairs(results)
    lines = [
        [
            *(one.system, one.pair.a, one.pair.b, one.pair.difference.n),
            signed_interval(one.pair.difference.difference, one.pair.difference.interval),
            number(one.pair.adjusted_p),
            one.pair.outcome,
        ]
        for one in found
    ]
    headers = ["system", "a", "b", "n", "b - a", "corrected p", "b is"]
    correction = results.record.correction
    title = f"Settings compared ({results.record.answer_metric}, paired by query; {correction})"
    return TextTable(headers, lines, title) if found else None
