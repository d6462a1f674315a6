"""The check of a judge as text for the terminal, and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from tabulate import tabulate

from ragstone.evaluation.judge_check import JudgeCheck
from ragstone.statistics.auc import AUC
from ragstone.statistics.proportions import Proportion
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary


def check_text(found: JudgeCheck) -> str:
    """Return a check as text."""
    models = ", ".join(found.models) or "several"
    head = f"{found.judge} by {models} on {found.data}: {found.quality.parsed.n} items judged"
    head += f", {found.not_asked} settled without a judge" if found.not_asked else ""
    head += f", {found.calls_failed} with failed calls" if found.calls_failed else ""
    head += f"\nquestion to people: {found.question}"
    table = tabulate(_rows(found), tablefmt="plain", disable_numparse=True)
    verdicts = [
        f"{'FIT  ' if use.fit else 'UNFIT'} to {use.use}: {use.reason}" for use in found.uses
    ]
    parts = [head, table, _confusion(found.quality.confusion), "\n".join(verdicts)]
    return "\n\n".join(filter(None, parts))


def check_document(found: JudgeCheck) -> dict[str, Any]:
    """Return a check as plain data: unrounded numbers with their intervals."""
    document = asdict(replace(found, verdicts=()))
    document.pop("verdicts")
    informed = found.quality.accuracy.informed if found.quality.accuracy else None
    return {**document, "informed": informed, "per_item": asdict(found.per_item)}


def _rows(found: JudgeCheck) -> list[list[str]]:
    quality, accuracy, each = found.quality, found.quality.accuracy, found.per_item
    calls = found.cost.calls / max(1, quality.parsed.n)
    tokens = f"{each.tokens_in} tokens in, {each.tokens_out} out"
    rows = [
        ["verdict read", _share(quality.parsed)],
        ["  at the first reply", _share(found.read_at_once)],
        *[[f"  unscored: {reason}", str(count)] for reason, count in found.unscored.items()],
        ["same if asked again", _share(found.repeatable)],
        ["same in both orders", _share(found.order_consistent)],
        ["prefers the first place", _number(found.first_preferred)],
        ["right if people accept", _share(accuracy.true_yes if accuracy else None)],
        ["right if people reject", _share(accuracy.true_no if accuracy else None)],
        ["kappa with people", _value(quality.kappa)],
        ["rank correlation with people", _value(quality.correlation)],
        ["AUC", _value(quality.discrimination)],
        ["people among themselves: alpha", _value(quality.ceiling)],
        ["  one rater with the others", _number(quality.ceiling_correlation)],
        ["bias (judge minus people)", _summary(quality.bias)],
        ["preference for long answers", _value(quality.length_bias)],
        ["preference for its own model", _summary(quality.self_preference)],
        ["cost per item", f"{calls:.2f} calls, {tokens}, {each.seconds:.1f} s"],
    ]
    return [row for row in rows if row[1]]


def _share(found: Proportion | None) -> str:
    if found is None or found.value is None:
        return ""
    return f"{found.count} of {found.n} = " + _number(found.value, found.interval, ".1%")


def _value(found: Coefficient | AUC | None) -> str:
    return "" if found is None else _number(found.value, found.interval)


def _summary(found: Summary | None) -> str:
    if found is None or found.mean is None:
        return ""
    return f"{'+' if found.mean >= 0 else ''}{_number(found.mean, found.interval)}"


def _number(
    value: float | None, interval: tuple[float, float] | None = None, form: str = ".2f"
) -> str:
    shown = "" if value is None else f"{value:{form}}"
    return shown + (f" [{interval[0]:{form}}, {interval[1]:{form}}]" if interval else "")


def _confusion(counts: Mapping[str, Mapping[str, int]]) -> str:
    if not counts:
        return ""
    labels = sorted({label for row in counts.values() for label in row})
    rows = [[people, *(str(row.get(n, 0)) for n in labels)] for people, row in counts.items()]
    return tabulate(rows, headers=["people \\ judge", *labels], disable_numparse=True)
