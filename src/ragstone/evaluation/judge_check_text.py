"""The check of a judge as text for the terminal, and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from ragstone.core.tables import TextTable, aligned
from ragstone.evaluation.judge_check import JudgeCheck
from ragstone.statistics.agreement_by_group import (
    LEAST_CLUSTERS,
    LEAST_ITEMS,
    LEAST_VALUES,
    GroupAgreement,
)
from ragstone.statistics.auc import AUC
from ragstone.statistics.judge_quality import UNSCORED
from ragstone.statistics.metric_correlations import NOT_ENOUGH
from ragstone.statistics.proportions import Proportion
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary

NO_DIFFERENCE: Final = "No test shows that agreement is lower in a group."


def check_text(found: JudgeCheck) -> str:
    """Return a check as text."""
    models = f" by {', '.join(found.models)}" if found.models else ""
    head = f"{found.judge}{models} on {found.data}: {found.quality.parsed.n} items judged"
    head += f", {found.not_asked} settled without a judge" if found.not_asked else ""
    head += f", {found.calls_failed} with failed calls" if found.calls_failed else ""
    head += f"\nquestion to people: {found.question}"
    table = aligned(_rows(found), form="plain")
    parts = [head, table, _confusion(found.quality.confusion), groups_text(found), uses_text(found)]
    return "\n\n".join(filter(None, parts))


def uses_text(found: JudgeCheck) -> str:
    """Return a sentence per use."""
    return "\n".join(use.sentence for use in found.uses)


def groups_text(found: JudgeCheck) -> str:
    """Return the agreement by label as a table with test results; empty without labels."""
    if not found.groups:
        return ""
    kind = {"kappa": "kappa", "spearman": "rank correlation"}[found.group_measure]
    rows = [group_cells(one) for one in found.groups]
    heads = ["label", "value", "judged", kind, "people's mean", "bias", "minus elsewhere", "p"]
    title = f"Agreement with people by label ({kind}); p is corrected (Holm)"
    return str(TextTable(heads, rows, title, group_notes(found.groups)))


def group_cells(one: GroupAgreement) -> list[str]:
    """Return the cells of a group: its name, size, agreement, bias and the test."""
    few = NOT_ENOUGH if one.agreement.n < LEAST_VALUES else "-"
    return [
        one.label,
        one.value,
        f"{one.agreement.n} of {one.items}",
        _value(one.agreement) or few,
        number_text(one.people) or "-",
        _summary(one.bias) or "-",
        number_text(one.difference, one.interval) or "-",
        "not tested" if one.p is None else f"{one.p:.2g}",
    ]


def group_notes(groups: Sequence[GroupAgreement]) -> list[str]:
    """Return the test results, and the groups that are too small for one."""
    worse = [
        f"Agreement is lower for {one.label} {one.value} than elsewhere, by "
        f"{-(one.difference or 0.0):.2f} (corrected p={one.p:.2g})."
        for one in groups
        if one.worse
    ]
    tested = any(one.p is not None for one in groups)
    notes = worse or ([NO_DIFFERENCE] if tested else [])
    if any(one.p is None for one in groups):
        notes.append(
            f"Not tested: a side has fewer than {LEAST_ITEMS} verdicts or {LEAST_CLUSTERS} "
            "clusters, or its agreement is undefined."
        )
    return notes


def check_document(found: JudgeCheck) -> dict[str, Any]:
    """Return a check as plain data: unrounded numbers with their intervals."""
    document = asdict(replace(found, verdicts=(), words=()))
    for items in ("verdicts", "words"):
        document.pop(items)
    informed = found.quality.accuracy.informed if found.quality.accuracy else None
    per_item = {**asdict(found.per_item), "money": found.money_per_item}
    return {**document, "informed": informed, "per_item": per_item}


def _rows(found: JudgeCheck) -> list[list[str]]:
    quality, accuracy = found.quality, found.quality.accuracy
    order = found.leaderboard.by_run["kendall"] if found.leaderboard else None
    rows = [
        ["verdict read", share_text(quality.parsed)],
        ["  at the first reply", share_text(found.read_at_once)],
        *[[f"  unscored: {reason}", str(count)] for reason, count in found.unscored.items()],
        ["same if asked again", share_text(found.repeatable)],
        ["same in both orders", share_text(found.order_consistent)],
        ["prefers the first place", number_text(found.first_preferred)],
        ["right if people accept", share_text(accuracy.true_yes if accuracy else None)],
        ["right if people reject", share_text(accuracy.true_no if accuracy else None)],
        ["kappa with people", _value(quality.kappa)],
        ["rank correlation with people", _value(quality.correlation)],
        ["AUC", _value(quality.discrimination)],
        ["people among themselves: alpha", _value(quality.ceiling)],
        ["  one rater with the others", number_text(quality.ceiling_correlation)],
        ["bias (judge minus people)", _summary(quality.bias)],
        ["preference for long answers", _value(quality.length_bias)],
        ["preference for its own model", _summary(quality.self_preference)],
        ["order of systems: Kendall", _value(order)],
        ["cost per item", cost_text(found) if found.cost.calls else ""],
    ]
    return [row for row in rows if row[1]]


def cost_text(found: JudgeCheck) -> str:
    """Return the mean cost per judged item."""
    each, calls = found.per_item, found.cost.calls / max(1, found.quality.parsed.n)
    shown = f"{calls:.2f} calls, {each.tokens_in} tokens in, {each.tokens_out} out, "
    money = found.money_per_item
    price = "" if money is None else f", {money:.3g} {found.currency}"
    return f"{shown}{each.seconds:.1f} s{price}"


def share_text(found: Proportion | None) -> str:
    """Return a share with its counts and interval; empty if there is none."""
    if found is None or found.value is None:
        return ""
    return f"{found.count} of {found.n} = " + number_text(found.value, found.interval, ".1%")


def _value(found: Coefficient | AUC | None) -> str:
    return "" if found is None else number_text(found.value, found.interval)


def _summary(found: Summary | None) -> str:
    if found is None or found.mean is None:
        return ""
    return f"{'+' if found.mean >= 0 else ''}{number_text(found.mean, found.interval)}"


def number_text(
    value: float | None, interval: Sequence[float] | None = None, form: str = ".2f"
) -> str:
    """Return a number with its interval; empty if there is none.

    >>> number_text(0.123, (0.05, 0.19))
    '0.12 [0.05, 0.19]'
    """
    shown = "" if value is None else f"{value:{form}}"
    return shown + (f" [{interval[0]:{form}}, {interval[1]:{form}}]" if interval else "")


def _confusion(counts: Mapping[str, Mapping[str, int]]) -> str:
    if not counts:
        return ""
    labels = sorted({label for row in counts.values() for label in row})
    if labels == [UNSCORED]:
        return ""
    rows = [[people, *(str(row.get(n, 0)) for n in labels)] for people, row in counts.items()]
    return aligned(rows, ["people \\ judge", *labels])
